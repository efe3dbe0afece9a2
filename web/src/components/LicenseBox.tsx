import type { ThingData } from '../generated';
import { t } from '../strings';
import { Icon, type IconName } from './Icon';

type Info = NonNullable<ThingData['thing']>['licenseInfo'];

const { use, change, noUse, noChange, sell, noSell, credit, alike, notice } = t.may;

/** The name of a license in the language of the page: those that SPDX lists have English names only. */
export const licenseName = (info: { spdxId: string; name: string }) => (t.ownLicenses as Partial<Record<string, string>>)[info.spdxId] ?? info.name;

/** A license in plain words with a link to its text. */
export function LicenseBox({ license }: { license: Info }) {
  const { terms, url } = license;
  const unknown = license.spdxId === 'LicenseRef-Unknown';
  const may = [terms.isSharingPermitted && use, terms.isAdaptationPermitted && change, terms.isCommercialUsePermitted && sell];
  const must = [terms.isCreditRequired && credit, terms.isShareAlikeRequired && alike, terms.isSourceRequired && notice];
  const mustNot = unknown ? [] : [!terms.isSharingPermitted && noUse, !terms.isAdaptationPermitted && noChange, !terms.isCommercialUsePermitted && noSell];
  const list = (title: string, entries: (string | false)[], icon: IconName, kind: string) =>
    entries.some(Boolean) && (
      <div>
        <h3>{title}</h3>
        <ul class={kind}>{entries.filter(Boolean).map((entry) => <li key={entry}><Icon name={icon} />{entry}</li>)}</ul>
      </div>
    );
  return (
    <section class="panel license" aria-label={t.license}>
      <h2>{licenseName(license)}</h2>
      {list(t.allowed, may, 'check', 'yes')}
      {list(t.required, must, 'flag', 'must')}
      {list(t.forbidden, mustNot, 'close', 'no')}
      {unknown && <p>{t.licenseUnknown}</p>}
      {url && <p><a href={url} rel="license noreferrer">{t.licenseText}</a></p>}
    </section>
  );
}
