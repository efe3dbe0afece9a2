import { useEffect } from 'preact/hooks';
import { config } from './config';
import { current } from './router';

/** Sets the title of the document while the page is shown. */
export function useTitle(title: string | undefined) {
  useEffect(() => {
    if (title !== undefined) document.title = title ? `${title} · ${config.name}` : config.name;
  }, [title, current()]);
}
