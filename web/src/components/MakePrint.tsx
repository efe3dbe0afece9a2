import { decimal, printingTime } from '../format';
import type { MakeData } from '../generated';
import { t } from '../strings';

type Print = NonNullable<NonNullable<MakeData['make']>['print']>;

/** How a make was printed. */
export function MakePrint({ print }: { print: Print }) {
  const { printer, material, layerHeight, nozzle, infill, hasSupports, timeSeconds, filamentGrams, rating, files } = print;
  const rows: [string, string | null | false][] = [
    [t.print.printer, printer],
    [t.print.filamentMaterial, material],
    [t.print.resolution, layerHeight !== null && `${decimal(layerHeight)} mm`],
    [t.nozzle, nozzle !== null && `${decimal(nozzle)} mm`],
    [t.print.infill, infill !== null && `${decimal(infill)} %`],
    [t.print.supports, hasSupports !== null && (hasSupports ? t.choices.YES : t.choices.NO)],
    [t.printingTime, timeSeconds !== null && printingTime(timeSeconds)],
    [t.filament, filamentGrams !== null && `${decimal(filamentGrams)} g`],
    [t.rating, rating !== null && `${rating} / 5`],
    [t.files, files.map((file) => file.name).join(', ')],
  ];
  return (
    <section class="panel" aria-label={t.howPrinted}>
      <h2>{t.howPrinted}</h2>
      <dl class="meta">{rows.map(([label, value]) => value && [<dt key={label}>{label}</dt>, <dd key={`${label} value`}>{value}</dd>])}</dl>
    </section>
  );
}
