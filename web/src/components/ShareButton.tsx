import { t } from '../strings';
import { Icon } from './Icon';
import { say } from './Toast';

/** A button that shares the link of a page with the dialog of the system or, if there is none, copies it. */
export function ShareButton({ url, title }: { url: string; title: string }) {
  const share = async () => {
    try {
      if (navigator.share) return await navigator.share({ title, url });
      await navigator.clipboard.writeText(url);
      say(t.linkCopied);
    } catch (error) {
      // Browsers have neither on a page without TLS. A user who closes the dialog of the system wants nothing else.
      if ((error as Error).name !== 'AbortError') prompt(t.copyLink, url);
    }
  };
  return <button type="button" class="button icon-only" aria-label={t.share} title={t.share} onClick={share}><Icon name="share" /></button>;
}
