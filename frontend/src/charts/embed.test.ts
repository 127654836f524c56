import { expect, it } from "vitest";
import { embedAddress, embedCode, panelEmbedAddress } from "./embed";

it("has the figure's address in the URL of the embed", () => {
  const address = embedAddress("/api/v1/figures/curves?runs=1,2");
  expect(new URLSearchParams(address.split("?")[1]).get("figure")).toBe("/api/v1/figures/curves?runs=1,2");
  expect(panelEmbedAddress(3, "rates")).toBe("/embed/3/rates");
});

it("writes a frame whose title cannot add attributes", () => {
  const code = embedCode("http://arcadia.test", "/embed?figure=a&b=c", '"><script>');
  expect(code).toContain('src="http://arcadia.test/embed?figure=a&amp;b=c"');
  expect(code).toContain('title="&quot;&gt;&lt;script&gt;"');
});
