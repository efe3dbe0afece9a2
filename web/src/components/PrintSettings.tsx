import type { ThingData } from '../generated';
import { t } from '../strings';

type Settings = NonNullable<ThingData['thing']>['printSettings'];

const names = Object.keys(t.print) as (keyof typeof t.print)[];

export function PrintSettings({ settings }: { settings: Settings }) {
  const rows = names.flatMap((name) => {
    const value = settings?.[name];
    return value ? [{ name, value: value in t.choices ? t.choices[value as keyof typeof t.choices] : value }] : [];
  });
  if (rows.length === 0) return null;
  return (
    <section class="panel" aria-label={t.printSettings}>
      <h2>{t.printSettings}</h2>
      <dl class="meta">{rows.map(({ name, value }) => [<dt key={name}>{t.print[name]}</dt>, <dd key={`${name} value`}>{value}</dd>])}</dl>
    </section>
  );
}
