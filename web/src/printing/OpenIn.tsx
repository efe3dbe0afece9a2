import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../components/Icon';
import { Menu } from '../components/Menu';
import { explain, say } from '../components/Toast';
import { openIn, type OpenInData } from '../generated';
import { send } from '../graphql';
import { t } from '../strings';
import { openDownload } from '../unsaved';
import { p } from './texts';

type Link = NonNullable<OpenInData['file']>['openIn'][number];

const freshFor = 10 * 60_000; // milliseconds; the URLs are valid for 15 minutes
const system = /Mac/.test(navigator.platform) ? 'MACOS' : /Win/.test(navigator.platform) ? 'WINDOWS' : 'LINUX';

/** The programs in which a file can be opened. The links are requested when they are needed, and again when they may have expired. */
export function OpenIn({ file, direct }: { file: { id: string; name: string }; direct: boolean; onClose?: () => void }) {
  const [links, setLinks] = useState<Link[]>();
  const [fault, setFault] = useState<unknown>();
  const [last, setLast] = useState(localStorage.getItem('open-in') ?? '');
  const [opened, setOpened] = useState(!direct);
  const at = useRef(0);
  const items = useRef<HTMLDivElement>(null);

  const ask = async (): Promise<Link[]> => {
    if (links && Date.now() - at.current < freshFor) return links;
    const all = (await send(openIn, { id: file.id })).file?.openIn ?? [];
    const found = all.filter((link) => link.os.includes(system));
    at.current = Date.now();
    setLinks(found);
    setFault(undefined);
    return found;
  };
  const go = (link: Link) => {
    localStorage.setItem('open-in', link.app);
    setLast(link.app);
    openDownload(link.url);
    say(p.opening(link.app));
  };
  const menu = () => ask().then(() => items.current?.querySelector('button')?.focus(), setFault);
  const again = async () => {
    try {
      const link = (await ask()).find((one) => one.app === last);
      if (link) return go(link);
      setOpened(true);
      await menu();
    } catch (error) {
      say(error);
    }
  };
  useEffect(() => void (direct ? again() : menu()), []);
  // A choice renders again with fresh links if those of an open menu have become old.
  const choose = async (app: string) => {
    try {
      const link = (await ask()).find((one) => one.app === app);
      if (link) go(link);
    } catch (error) {
      say(error);
    }
  };
  return (
    <span class="split">
      {last && <button type="button" class="button" aria-label={`${t.openIn(last)}: ${file.name}`} onClick={again}>{t.openIn(last)}</button>}
      <Menu key={String(opened)} open={opened} label={`${t.openWith}: ${file.name}`} kind="button" button={<>{!last && t.openWith}<Icon name="down" /></>} onOpen={menu}>
        <div ref={items}>
          {fault ? <p class="fault" role="alert">{explain(fault)}</p> : !links ? <p class="quiet" role="status">{p.asking}</p> : links.length === 0 && <p class="quiet">{p.noProgram}</p>}
          {links?.map((link) => <button key={link.app} type="button" onClick={() => choose(link.app)}>{link.app}</button>)}
        </div>
      </Menu>
    </span>
  );
}
