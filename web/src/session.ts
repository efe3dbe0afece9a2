// Whether the session of the user has ended, because it expired or was ended elsewhere. The page stays as it is, so that no input is lost:
// the user signs in in another tab and repeats the action.
import { useEffect, useReducer } from 'preact/hooks';
import { me } from './config';

let ended = false;
const watchers = new Set<() => void>();

export function setSessionEnded(to: boolean) {
  if (!me || ended === to) return;
  ended = to;
  for (const watcher of watchers) watcher();
}

export function useSessionEnded(): boolean {
  const [, render] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const watcher = () => render(0);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return ended;
}
