import { useQuery } from '../cache';
import { explain } from '../components/Toast';
import { config } from '../config';
import { printSummary } from '../generated';
import { p } from './texts';

const list = (counts: { name: string; count: string | number }[]) => counts.map(({ name, count }) => (Number(count) > 1 ? `${name} (${count})` : name)).join(', ');

/** What the makes of a thing say about printing it. */
export function PrintSummary({ id }: { id: string; onClose?: () => void }) {
  const { data, error } = useQuery(printSummary, { id });
  const summary = data?.thing?.printSummary;
  if (error && !data) return <p class="fault" role="alert">{explain(error)}</p>;
  if (!summary) return <p class="quiet" role="status">{p.loading}</p>;
  const rows: [string, string | false][] = [
    [p.success, summary.successRate !== null && p.ofRated(summary.successRate.toLocaleString(config.locale, { style: 'percent' }), String(summary.rated))],
    [p.rating, summary.averageRating !== null && p.ofFive(summary.averageRating.toLocaleString(config.locale, { maximumFractionDigits: 1 }))],
    [p.printer, list(summary.printers)],
    [p.material, list(summary.materials)],
  ];
  return (
    <section class="panel" aria-label={p.howPrinted} tabIndex={-1} ref={(element) => element?.focus()}>
      <h2>{p.howPrinted}</h2>
      {Number(summary.makes) === 0 ? <p class="quiet">{p.nobodySays}</p> : <dl class="meta">{rows.map(([label, value]) => value && [<dt key={label}>{label}</dt>, <dd key={`${label} value`}>{value}</dd>])}</dl>}
    </section>
  );
}
