import type { License } from '../generated';
import { terms } from '../licenses';
import { t } from '../strings';
import { Icon, type IconName } from './Icon';

/** A license in plain words with a link to its text. */
export function LicenseBox({ license }: { license: License }) {
  const { url, may, must, mustNot } = terms[license];
  const list = (title: string, entries: string[], icon: IconName, kind: string) =>
    entries.length > 0 && (
      <div>
        <h3>{title}</h3>
        <ul class={kind}>{entries.map((entry) => <li key={entry}><Icon name={icon} />{entry}</li>)}</ul>
      </div>
    );
  return (
    <section class="panel license" aria-label={t.license}>
      <h2>{t.licenses[license]}</h2>
      {list(t.allowed, may, 'check', 'yes')}
      {list(t.required, must, 'flag', 'must')}
      {list(t.forbidden, mustNot, 'close', 'no')}
      <p><a href={url} rel="license noreferrer">{t.licenseText}</a></p>
    </section>
  );
}
