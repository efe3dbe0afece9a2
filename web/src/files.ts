// The files and pictures of a thing, and the pictures of a make. A page reads the first ones, and more on demand.
import { useRef, useState } from 'preact/hooks';
import type { Growing } from './cache';
import { thingFiles, type ThingFilesData } from './generated';
import { send } from './graphql';
import { useSubmission } from './submission';

type Files = NonNullable<ThingFilesData['thing']>;

export const firstPictures = 50; // that pages show at first; the documents of things read one more, to know whether there are more
export const pictureStep = 100;
const fileStep = 300;
export const maxFiles = 1000; // of a make, and of a request for files or pictures
/** How many pictures to read to show a number of them and know whether there are more. */
export const picturesToRead = (shown: number) => Math.min(shown + 1, maxFiles);

/** The first files and pictures of a thing, in several requests if there are many files. */
async function readFiles(id: string, files: number, images: number): Promise<Files | null> {
  const found = (await send(thingFiles, { id, files: Math.min(files, maxFiles), images })).thing;
  while (found && found.files.length < Math.min(files, found.fileCount)) {
    const more = (await send(thingFiles, { id, files: Math.min(files - found.files.length, maxFiles), offset: found.files.length, images: 1 })).thing;
    if (!more?.files.length) break;
    found.files.push(...more.files);
  }
  return found;
}

/** A rank after those of all files of a thing. Other programs choose any ranks. Those of files that are not shown are not known. */
export const rankAfter = ({ files, fileCount }: Files) => (files.length < fileCount ? 1e9 : Math.min(Math.max(-1, ...files.map((file) => file.rank)) + 1, 2e9));

/** A thing with its latest files and pictures, of which refresh reads as many as are shown, and files and pictures more. */
export function useFiles<T extends Files & { id: string }>(read: T) {
  const [latest, setLatest] = useState<Files & { asked: number }>(); // asked: the number of pictures that were requested
  const { asked = firstPictures, ...update } = latest ?? {};
  const thing: T = { ...read, ...update };
  const hasMore = thing.images.length > asked;
  thing.images = thing.images.slice(0, asked);
  const shown = useRef(thing);
  shown.current = thing;
  const wanted = useRef({ files: read.files.length, images: firstPictures });
  const requests = useRef({ sent: 0, shown: 0 }); // the numbers of the last request and of that whose response is shown
  // A timer or an upload can call refresh of an earlier rendering, and an earlier response can arrive later: neither may hide what was shown since.
  const load = async (files = 0, images = 0) => {
    const { id, files: present, fileCount } = shown.current;
    // If all files are shown, new ones are shown, too.
    const least = present.length + (present.length < fileCount ? 0 : fileStep);
    const { files: most, images: asked } = wanted.current = {
      files: Math.max(files, wanted.current.files, least),
      images: Math.min(Math.max(images, wanted.current.images), maxFiles),
    };
    const request = ++requests.current.sent;
    const found = await readFiles(id, most, picturesToRead(asked));
    if (!found || request < requests.current.shown) return;
    requests.current.shown = request;
    setLatest({ ...found, asked });
    shown.current = { ...shown.current, ...found };
  };
  return {
    thing,
    shown, // as thing, for actions that follow a request
    refresh: () => load(),
    files: useGrowing(thing.files, thing.fileCount > thing.files.length, () => load(thing.files.length + fileStep)),
    pictures: useGrowing(thing.images, hasMore, () => load(0, asked + pictureStep)),
  };
}

function useGrowing<N>(nodes: N[], hasMore: boolean, load: () => Promise<void>): Growing<N> {
  const { busy, failure, submit } = useSubmission();
  return { nodes, hasMore, loadingMore: busy, moreError: failure, loadMore: () => void submit(load) };
}
