import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shown } from '../turns';

export type Tab = { id: string; title: string; count?: string };

type Props = { label: string; tabs: Tab[]; current: string; onChoose: (id: string) => void; children: ComponentChildren };

/** Scrolls the tabs, not the page, to the current one. */
function useTabs<E extends HTMLElement>(current: string) {
  const list = useRef<E>(null);
  useEffect(() => void shown.then(() => {
    const tab = list.current?.querySelector<HTMLElement>('[aria-selected=true], [aria-current]');
    if (tab) list.current!.scrollLeft = tab.offsetLeft - list.current!.offsetLeft - 24; // a part of the previous tab stays visible
  }), [current]);
  return list;
}

/** Tabs with a panel below them. The arrow keys move among the tabs, as in the ARIA Authoring Practices Guide. */
export function Tabs({ label, tabs, current, onChoose, children }: Props) {
  const list = useTabs<HTMLDivElement>(current);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = (tabs.findIndex((tab) => tab.id === current) + step + tabs.length) % tabs.length;
    onChoose(tabs[at]!.id);
    (list.current?.children[at] as HTMLElement).focus();
    event.preventDefault();
  };
  return (
    <>
      <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button key={tab.id} type="button" role="tab" id={`tab-${tab.id}`} aria-selected={tab.id === current} aria-controls="panel" tabIndex={tab.id === current ? 0 : -1}
            onClick={() => onChoose(tab.id)}>
            {tab.title}{tab.count && <>{' '}<span class="tab-count">{tab.count}</span></>}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${current}`} tabIndex={0}>{children}</div>
    </>
  );
}

/** Like Tabs, for tabs that are links to other pages. */
export function LinkTabs({ label, tabs, current, hrefOf }: { label: string; tabs: Tab[]; current: string; hrefOf: (id: string) => string }) {
  const list = useTabs<HTMLElement>(current);
  return (
    <nav ref={list} class="tabs" aria-label={label}>
      {tabs.map((tab) => <a key={tab.id} href={hrefOf(tab.id)} aria-current={tab.id === current ? 'page' : undefined}>{tab.title}{tab.count && <>{' '}<span class="tab-count">{tab.count}</span></>}</a>)}
    </nav>
  );
}
