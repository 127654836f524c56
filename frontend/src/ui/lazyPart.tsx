/** Parts of a page whose code is loaded when they are first shown, such as dialogs and menus. */

import { type ComponentType, useEffect, useState } from "react";
import { importWithRetries } from "./loadCode";
import { notifyProblem } from "./notify";

/**
 * Return a component that loads its code when it is first shown, and shows the fallback until then. A dialog with the
 * property `opened` is first shown when it is first opened. If the code cannot be loaded, a notification says so.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Fallback?: ComponentType<Props>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function LazyPart(props: Props) {
    const [Part, setPart] = useState(() => loaded);
    const isShown = !("opened" in props) || props.opened !== false;
    useEffect(() => {
      if (Part || !isShown) return;
      importWithRetries(load).then((part) => {
        loaded = part;
        setPart(() => part);
      }, notifyProblem);
    }, [Part, isShown]);
    if (Part) return <Part {...props} />;
    return Fallback && <Fallback {...props} />;
  };
}
