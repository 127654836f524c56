/** Return the filter of lists for the current project, or none for all projects. */
export const byProject = (name: string | null): { project?: string[] } => (name ? { project: [name] } : {});
