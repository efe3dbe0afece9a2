// Pictures in two sizes. The server's page has the same sizes (shell.html in internal/web/webpage), so that the browser loads each picture once.
type Small = { url: string; width: number };
type Large = Small & { height: number };

/**
 * The attributes of an <img> from which the browser chooses one of two sizes. The attribute sizes and those that control loading must be
 * set first, because the browser acts on each attribute when it is set.
 */
export const sources = (large: Large, small: Small) => ({
  width: large.width, height: large.height, srcset: `${small.url} ${small.width}w, ${large.url} ${large.width}w`, src: large.url,
});
