// Polls while previews of files are being created.
import { useEffect, useState } from 'preact/hooks';
import type { FileRow } from './generated';
import { Failure } from './graphql';

// The pauses between requests, in milliseconds. They grow, because the server limits the rate of requests.
const firstPause = 1000;
const longestPause = 8000;

/** Calls refresh repeatedly until all previews of the files are created or have failed. */
export function useProcessing(files: { processing: Pick<FileRow['processing'], 'state'> }[], refresh: () => Promise<void>) {
  const [round, setRound] = useState(0);
  const waiting = files.some((file) => file.processing.state === 'WAITING' || file.processing.state === 'RUNNING');
  useEffect(() => {
    if (!waiting) return setRound(0);
    const timer = setTimeout(async () => {
      if (!document.hidden) await refresh().catch((error) => error instanceof Failure || Promise.reject(error));
      setRound(round + 1);
    }, Math.min(firstPause * 1.3 ** round, longestPause));
    return () => clearTimeout(timer);
  }, [waiting, round]);
}
