// Input that would be lost if the user left the page: unsaved forms, drafts of comments, running uploads. The user is asked before a link,
// the back button or a reload leaves the page.
import { useEffect, useReducer, useRef } from 'preact/hooks';
import { t } from './strings';

type Source = { question: string; has: () => boolean };

const sources = new Set<Source>();
const drafts = new Map<string, string>(); // texts that were entered but not sent, by form

/** The question to ask before leaving the page, or "" if nothing would be lost. */
function question(): string {
  const found = [...sources].filter((source) => source.has()).map((source) => source.question);
  if (drafts.size > 0) found.unshift(t.leaveInput);
  return [...new Set(found)].join('\n');
}

/** Whether the page may be left: nothing would be lost, or the user agrees to lose it. */
export function mayLeave(): boolean {
  const text = question();
  return !text || confirm(text);
}

/** Forgets the drafts of a page that has been left. */
export function forgetDrafts() {
  drafts.clear();
}

let downloading = false; // whether the next beforeunload event is that of a download

addEventListener('beforeunload', (event) => {
  if (!downloading && question()) event.preventDefault();
  downloading = false;
});

/** Opens the URL of a file that the browser downloads. The page stays, so nothing is lost. */
export function openDownload(url: string) {
  downloading = true;
  location.href = url;
}

/** Asks before the page is left while has returns true. */
export function useUnsaved(has: () => boolean, question = t.leaveInput) {
  const latest = useRef(has);
  latest.current = has;
  useEffect(() => {
    const source = { question, has: () => latest.current() };
    sources.add(source);
    return () => void sources.delete(source);
  }, []);
}

/** Whether there is a draft with this key. */
export const hasDraft = (key: string) => drafts.has(key);

/** A text that is kept while its form is not rendered, for example because another tab is shown. It is a draft if it differs from initial. */
export function useDraft(key: string, initial = ''): [string, (text: string) => void] {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const set = (text: string) => {
    if (text.trim() === initial.trim()) drafts.delete(key);
    else drafts.set(key, text);
    render(0);
  };
  return [drafts.get(key) ?? initial, set];
}
