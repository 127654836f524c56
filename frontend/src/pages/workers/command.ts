/** What starts a worker, typed on the machine that is to train. */
export const addWorkerCommand = (name: string, queue: "cpu" | "gpu" = "cpu") =>
  `arcadia worker --queue ${queue} --name ${name} --backend-url ${window.location.origin}`;
