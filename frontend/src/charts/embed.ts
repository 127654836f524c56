/** Addresses and code of embeds: pages that show only one chart, for frames of other pages. */

const WIDTH = 720;
const HEIGHT = 420;

/** Path of the page that shows only the figure at an API address. */
export const embedAddress = (figure: string) => `/embed?${new URLSearchParams({ figure }).toString()}`;

/** Fragment of an address that names an element. */
export const hashOf = (id: string) => `#${encodeURIComponent(id)}`;

/** Address of this page with the element of this id, which the browser scrolls to. */
export function linkTo(id: string): string {
  const { origin, pathname, search } = window.location;
  return `${origin}${pathname}${search}${hashOf(id)}`;
}

/** Path of the page that shows only a panel of a project's board. */
export const panelEmbedAddress = (project: number, panel: string) => `/embed/${project}/${panel}`;

/** HTML of a frame with an embed. It follows the theme of the reader's system unless the address has a theme. */
export function embedCode(origin: string, path: string, title: string): string {
  const source = escape(`${origin}${path}`);
  return `<iframe src="${source}" title="${escape(title)}" width="${WIDTH}" height="${HEIGHT}" style="border: 0" loading="lazy"></iframe>\n`;
}

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
