import { base, config } from '../config';
import { href } from '../router';
import { t } from '../strings';

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
        <select value={config.locale} onChange={(event) => {
          document.cookie = `meshyard_language=${event.currentTarget.value}; path=${base}/; max-age=${365 * 24 * 3600}; samesite=lax`;
          location.reload();
        }}>
          {config.languages.map(({ code, name }) => <option key={code} value={code} lang={code}>{name}</option>)}
        </select>
      </label>
      <p>{t.poweredBy}</p>
    </footer>
  );
}
