import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Growing, List } from '../cache';
import { focusIn } from '../focus';
import { t } from '../strings';
import { Empty, ErrorNotice } from './Notice';
import { explain } from './Toast';

/** Placeholders for cards whose content is being loaded. */
export function Skeletons({ number = 12 }: { number?: number }) {
  return (
    <ul class="grid" aria-hidden="true">
      {Array.from({ length: number }, (_, i) => <li key={i}><div class="card skeleton"><div class="cover" /><div class="card-text"><span class="line" /><span class="line short" /></div></div></li>)}
    </ul>
  );
}

type Props<D, N> = { title: string; list: List<D, N>; item: (node: N, index: number) => ComponentChildren; keyOf: (node: N) => string; empty?: string; hint?: string; action?: ComponentChildren; narrow?: boolean };

/** A list of cards. Its title is for screen readers, which jump from heading to heading. It loads more when its end is scrolled into view or a button is pressed. */
export function Grid<D, N>({ title, list, item, keyOf, empty, hint, action, narrow }: Props<D, N>) {
  if (list.error && !list.data) return <ErrorNotice error={list.error} retry={list.reload} />;
  if (list.loading) return <Skeletons />;
  if (list.nodes.length === 0) return <Empty text={empty} hint={hint}>{action}</Empty>;
  return (
    <>
      <h2 class="unseen">{title}</h2>
      <ul class={narrow ? 'grid narrow' : 'grid'}>{list.nodes.map((node, index) => <li key={keyOf(node)}>{item(node, index)}</li>)}</ul>
      <More list={list} />
    </>
  );
}

/** The button below a list that loads its next page, also when it is scrolled into view. */
export function More<N>({ list, still = false }: { list: Growing<N>; still?: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  const last = useRef<Element | null>(null); // the end of the list when the button was pressed
  useEffect(() => {
    focusIn(last.current?.nextElementSibling, 'a, input, button:enabled');
    last.current = null;
  }, [list.nodes.length]);
  useEffect(() => {
    if (still || !button.current) return;
    const observer = new IntersectionObserver((seen) => seen[0]?.isIntersecting && list.loadMore(), { rootMargin: '600px' });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [list.nodes, still]); // another list from the cache can have as many nodes
  if (!list.hasMore) return null;
  return (
    <p class="more">
      {list.moreError !== undefined && <span class="fault" role="alert">{explain(list.moreError)}</span>}
      <button ref={button} type="button" class="button" aria-disabled={list.loadingMore} onClick={(event) => {
        const before = event.currentTarget.parentElement!.previousElementSibling!;
        last.current = before.matches('ul, ol') ? before.lastElementChild : before;
        list.loadMore();
      }}>{list.loadingMore ? t.loading : t.loadMore}</button>
    </p>
  );
}
