/** A method in the configuration's schema, with a few fields and those that a test adds. */
export const aMethod = (algorithm: string, title: string, envs: string[], more: object = {}) => ({
  title,
  description: `${title}: one way to learn (Somebody et al. 2016).`,
  properties: {
    algorithm: { const: algorithm, default: algorithm, group: "Run" },
    env: { enum: envs, default: envs[0], title: "Environment", group: "Run", essential: true },
    total_steps: {
      type: "integer",
      title: "Total steps",
      default: 1000,
      minimum: 1,
      maximum: 1_000_000,
      group: "Run",
      essential: true,
    },
    gamma: { type: "number", title: "Discount", default: 0.99, minimum: 0, maximum: 1, group: "Rollout" },
    ...more,
  },
});
