import { config } from '../config';
import { href } from '../router';
import { languageNames, t } from '../strings';
import { locale } from '../locale';

export function Footer() {
  return (
    <footer class="site">
      <nav aria-label={config.name}>
        <a href={href('/explore')}>{t.explore}</a>
        {(config.legal ?? []).map((page) => <a key={page.path} href={href(page.path)} data-native>{page.title}</a>)}
        <a href={href('/reference')}>{t.apiReference}</a>
      </nav>
      <label>
        <span class="unseen">{t.languageLabel}</span>
        <select value={locale} onChange={(event) => {
          localStorage.setItem('language', event.currentTarget.value);
          location.reload();
        }}>
          {languageNames.map(({ code, name }) => <option key={code} value={code} lang={code}>{name}</option>)}
        </select>
      </label>
      <p>{t.poweredBy}</p>
    </footer>
  );
}
