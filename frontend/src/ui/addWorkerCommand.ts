/** The command that starts a worker, for the machine that will train. */
export const addWorkerCommand = (name: string) =>
  `arcadia worker --queue cpu --name ${name} --backend-url ${window.location.origin}`;
