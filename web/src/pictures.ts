// Pictures in two sizes. The server's page has the same sizes (shell.html in internal/web/webpage), so that the browser loads each picture once.
import type { Picture } from './generated';

/** Whether a preview of a picture may still appear. */
export const awaited = ({ file: { processing: { state } } }: Picture) => state === 'WAITING' || state === 'RUNNING';

/** The URL of a picture that browsers can show but the server cannot make smaller. */
export const original = (picture: Picture) => (picture.file.contentType === 'image/avif' ? picture.url : undefined);

/** The index of the picture that represents all: one that can be shown, otherwise one that is being made. The server chooses the covers of cards alike. */
export function coverOf(pictures: Picture[]): number {
  const shown = pictures.findIndex((picture) => picture.large);
  return Math.max(0, shown < 0 ? pictures.findIndex((picture) => awaited(picture) || original(picture)) : shown);
}

/** The class of a picture. Renderings have a light background, which dark pages dim. */
export const classOf = (picture: { isRendering: boolean } | undefined) => (picture?.isRendering ? 'rendering' : undefined);

type Small = { url: string; width: number };
type Large = Small & { height: number };

/**
 * The attributes of an <img> from which the browser chooses one of two sizes. The attribute sizes and those that control loading must be
 * set first, because the browser acts on each attribute when it is set.
 */
export const sources = (large: Large, small: Small) => ({
  width: large.width, height: large.height, srcset: `${small.url} ${small.width}w, ${large.url} ${large.width}w`, src: large.url,
});
