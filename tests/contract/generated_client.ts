// Lists, launches, waits for and reads a run through a generated client; tests/contract/test_generated_clients.py runs it.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const [address, token, preset] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${token}` } });

function found<T>(answer: { data?: T; error?: { detail: string } }): T {
  if (answer.data === undefined) throw new Error(answer.error?.detail);
  return answer.data;
}

const before = found(await client.GET("/api/v1/runs", { params: { query: { state: ["finished"] } } }));
const launched = found(await client.POST("/api/v1/runs", { body: { preset, overrides: { seed: 7 }, tags: ["generated"] } }));
console.log(launched.id);
const params = { path: { run_id: launched.id } };
let run = launched;
while (run.state !== "finished") {
  if (run.state === "failed" || run.state === "stopped") throw new Error(`the run is ${run.state}`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  run = found(await client.GET("/api/v1/runs/{run_id}", { params }));
}
const after = found(await client.GET("/api/v1/runs", { params: { query: { state: ["finished"] } } }));
console.log(JSON.stringify({ before: before.items.length, after: after.items.map(({ id }) => id), step: run.step, tags: run.tags }));
