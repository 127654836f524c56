/** Command that starts a worker on another host. */
export const addWorkerCommand = (name: string) =>
  `arcadia worker --queue cpu --name ${name} --backend-url ${window.location.origin}`;
