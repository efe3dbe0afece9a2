// The files and pictures of a thing. Its page reads the first ones, and more on demand.
import { useState } from 'preact/hooks';
import type { Growing } from './cache';
import { thingFiles, type ThingFilesData } from './generated';
import { send } from './graphql';
import { useSubmission } from './submission';

type Files = NonNullable<ThingFilesData['thing']>;

const firstPictures = 50; // that pages read with a thing
const fileStep = 300;
const pictureStep = 100;
const most = 1000; // a thing has no more files

/** A thing with its latest files and pictures, of which refresh reads as many as are shown, and files and pictures more. */
export function useFiles<T extends Files & { id: string }>(read: T) {
  const [latest, setLatest] = useState<Files>();
  const [asked, setAsked] = useState(firstPictures); // number of pictures that were requested
  const thing: T = { ...read, ...latest };
  const hasMoreFiles = thing.fileCount > thing.files.length;
  // If all files are shown, new ones are shown, too.
  const load = async (files = thing.files.length + (hasMoreFiles ? 0 : fileStep), images = asked) => {
    const found = (await send(thingFiles, { id: read.id, files: Math.min(files, most), images: Math.min(images, most) })).thing;
    if (found) setLatest(found);
    setAsked(images);
  };
  return {
    thing,
    refresh: () => load(),
    files: useGrowing(thing.files, hasMoreFiles, () => load(thing.files.length + fileStep)),
    pictures: useGrowing(thing.images, thing.images.length >= asked, () => load(undefined, asked + pictureStep)),
  };
}

function useGrowing<N>(nodes: N[], hasMore: boolean, load: () => Promise<void>): Growing<N> {
  const { busy, failure, submit } = useSubmission();
  return { nodes, hasMore, loadingMore: busy, moreError: failure, loadMore: () => void submit(load) };
}
