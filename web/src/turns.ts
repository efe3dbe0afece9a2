// The first page is rendered in several short tasks, between which the browser draws and responds.
import { useLayoutEffect, useState } from 'preact/hooks';

let starting = true;
let finish: () => void;

/** Resolves when the first page is in the document. */
export const shown = new Promise<void>((done) => (finish = done));

/** Resolves after the browser has finished waiting work, such as drawing. */
export function turn(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

/** From now on, components render at once. */
export function started() {
  starting = false;
  finish();
}

/** Whether a component renders now. At the start each component renders in a separate task; until then it renders an element with aria-busy. */
export function useTurn(): boolean {
  const [now, setNow] = useState(!starting);
  useLayoutEffect(() => {
    if (!now) void turn().then(() => setNow(true));
  }, []);
  return now;
}
