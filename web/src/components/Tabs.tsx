import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

export type Tab = { id: string; title: string; count?: string };

type Props = { label: string; tabs: Tab[]; current: string; onChoose: (id: string) => void; children: ComponentChildren };

/** Tabs with a panel below them. The arrow keys move among the tabs, as in the ARIA Authoring Practices Guide. */
export function Tabs({ label, tabs, current, onChoose, children }: Props) {
  const list = useRef<HTMLDivElement>(null);
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
            {tab.title}{tab.count && <span class="tab-count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${current}`} tabIndex={0}>{children}</div>
    </>
  );
}

/** Like Tabs, for tabs that are links to other pages. */
export function LinkTabs({ label, tabs, current, hrefOf }: { label: string; tabs: Tab[]; current: string; hrefOf: (id: string) => string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => <a key={tab.id} href={hrefOf(tab.id)} aria-current={tab.id === current ? 'page' : undefined}>{tab.title}{tab.count && <span class="tab-count">{tab.count}</span>}</a>)}
    </nav>
  );
}
