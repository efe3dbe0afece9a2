import { useEffect, useRef, useState } from 'preact/hooks';
import type { Growing } from '../cache';
import { More } from '../components/Grid';
import { Icon, type IconName } from '../components/Icon';
import { ThingCard } from '../components/ThingCard';
import type { Card } from '../generated';
import { t } from '../strings';
import { most } from './bulk';
import { BulkDialog, type Action } from './BulkDialog';
import { m } from './texts';

const actions: [Action, IconName][] = [['tags', 'plus'], ['category', 'cube'], ['license', 'shield'], ['collection', 'folderAdd'], ['visibility', 'eye'], ['delete', 'trash']];

/** A list of the user's own things, of which some can be selected and changed together. */
export function Selection({ list, onClose }: { list: Growing<Card> & { reload: () => void }; onClose: () => void }) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false); // also those that are loaded later
  const [action, setAction] = useState<Action>();
  const last = useRef(-1); // the index of the thing that was selected or deselected last
  const shift = useRef(false); // whether the shift key is pressed during a click
  const head = useRef<HTMLInputElement>(null);
  const nodes = list.nodes;
  const chosen = nodes.filter((thing) => selected.has(thing.id));
  const everything = chosen.length > 0 && chosen.length === Math.min(nodes.length, most);
  useEffect(() => void head.current?.focus(), []);
  useEffect(() => {
    head.current!.indeterminate = chosen.length > 0 && !everything;
  });
  useEffect(() => {
    if (!all) return;
    setSelected(new Set(nodes.slice(0, most).map((thing) => thing.id)));
    if (list.hasMore && nodes.length < most && list.moreError === undefined) list.loadMore();
  }, [all, nodes.length]);

  const toggle = (index: number, on: boolean) => {
    const next = new Set(selected);
    const from = shift.current && last.current >= 0 ? Math.min(last.current, index) : index;
    const to = shift.current && last.current >= 0 ? Math.max(last.current, index) : index;
    for (const thing of nodes.slice(from, to + 1)) {
      if (!on) next.delete(thing.id);
      else if (next.size < most) next.add(thing.id);
    }
    shift.current = false;
    last.current = index;
    setAll(false);
    setSelected(next);
  };
  return (
    <div onKeyDown={(event) => event.key === 'Escape' && !action && onClose()}>
      <div class="select-head">
        <label class="check"><input ref={head} type="checkbox" checked={everything} onChange={(event) => {
          setAll(event.currentTarget.checked);
          if (!event.currentTarget.checked) setSelected(new Set());
        }} /><span>{m.selectAll}</span></label>
        <button type="button" class="button" onClick={onClose}>{m.done}</button>
      </div>
      <h2 class="unseen">{t.designs}</h2>
      <ul class="grid selecting">
        {nodes.map((thing, index) => (
          <li key={thing.id} class={selected.has(thing.id) ? 'on' : undefined}>
            <ThingCard thing={thing} />
            <label class="pick" onClick={(event) => void (shift.current ||= event.shiftKey)}>
              <input type="checkbox" aria-label={thing.name} checked={selected.has(thing.id)} onChange={(event) => toggle(index, event.currentTarget.checked)} />
            </label>
          </li>
        ))}
      </ul>
      <More list={list} />
      <div class="publish-bar bulk-bar" role="toolbar" aria-label={m.actions}>
        <span class="quiet" role="status">{m.selected(chosen.length)}</span>
        {actions.map(([name, icon]) => (
          <button key={name} type="button" class="button" disabled={chosen.length === 0} onClick={() => setAction(name)}><Icon name={icon} />{m.names[name]}</button>
        ))}
      </div>
      {action && <BulkDialog action={action} things={chosen} onClose={() => setAction(undefined)} onDone={() => {
        if (action === 'delete') setAll(false);
        list.reload();
      }} />}
    </div>
  );
}
