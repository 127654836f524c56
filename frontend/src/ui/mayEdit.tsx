import { createContext, type ReactNode, useContext } from "react";

/** Whether the caller may change what the page shows, as the server reports it. */
export const MayEdit = createContext(true);

export const useMayEdit = () => useContext(MayEdit);

/** Controls that only editors get. Others would be refused. */
export function ForEditors({ children }: { children: ReactNode }) {
  return useMayEdit() ? children : null;
}
