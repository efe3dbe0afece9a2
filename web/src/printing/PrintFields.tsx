import { useQuery } from '../cache';
import { control, Field, initially } from '../components/Field';
import { printableFiles, printDetails, type MakeData, type MakePrintInput, type PrintDetailsData } from '../generated';
import type { Failure } from '../graphql';
import { t } from '../strings';
import { p } from './texts';

export type Print = NonNullable<NonNullable<MakeData['make']>['print']>;

/** The names of the inputs that show their errors themselves. */
export const printFields = ['printer', 'material', 'layerHeight', 'nozzle', 'infill', 'hasSupports', 'timeSeconds', 'filamentGrams', 'rating'];

/** Returns what a form says about the print, or null if it says nothing. */
export function printOf(data: FormData): MakePrintInput | null {
  const text = (name: string) => String(data.get(name) ?? '').trim();
  const number = (name: string) => (text(name) ? Number(text(name)) : null);
  const minutes = (number('hours') ?? 0) * 60 + (number('minutes') ?? 0);
  const print = {
    printer: text('printer') || null, material: text('material') || null, layerHeight: number('layerHeight'), nozzle: number('nozzle'), infill: number('infill'),
    hasSupports: text('hasSupports') ? text('hasSupports') === 'YES' : null, timeSeconds: minutes ? Math.round(minutes * 60) : null, filamentGrams: number('filamentGrams'), rating: number('rating'),
    fileIds: data.getAll('printed').map(String),
  };
  return Object.values(print).some((value) => (Array.isArray(value) ? value.length > 0 : value !== null)) ? print : null;
}

const rounded = (n: number, digits: number) => Number(n.toFixed(digits));

/** What the slicer of a file says, as how it was printed. A project counts only if it has one plate. */
function fromSlicer(file: NonNullable<PrintDetailsData['file']>): Omit<Print, 'files' | 'rating'> | undefined {
  const { sliced, project } = file;
  const plate = project?.plates.length === 1 ? project.plates[0] : undefined;
  const settings = sliced?.settings ?? project?.settings;
  if (!settings) return undefined;
  const uses = sliced?.filaments ?? [];
  const grams = sliced ? uses.reduce((sum, use) => sum + (use.mass ?? 0), 0) : plate?.mass ?? 0;
  const materials = [...new Set((sliced ? uses.map((use) => use.filament) : project!.filaments).map((filament) => filament.material).filter(Boolean))];
  const seconds = sliced?.seconds ?? plate?.seconds ?? null;
  return {
    printer: settings.printer, material: materials.join(', ') || null, layerHeight: settings.layerHeight, nozzle: settings.nozzle, infill: settings.infill,
    hasSupports: settings.hasSupports, timeSeconds: seconds === null ? null : Number(seconds), filamentGrams: grams > 0 ? rounded(grams, 1) : null,
  };
}

type Props = { thingId?: string; print: Print | null; file?: { id: string }; failure?: Failure };

/** The inputs for how a make was printed. They begin with what the make says, or what the slicer says in the file that was printed. */
export function PrintFields({ thingId, print, file, failure }: Props) {
  const files = useQuery(printableFiles, { id: thingId ?? '0' });
  const details = useQuery(printDetails, { id: file?.id ?? '0' });
  const waiting = (thingId && !files.data && !files.error) || (file && !details.data && !details.error);
  if (waiting) return <p class="quiet" role="status">{p.loading}</p>;
  const known = print ?? (file && details.data?.file ? fromSlicer(details.data.file) : undefined);
  const printed = print?.files.map((one) => one.id) ?? (file ? [file.id] : []);
  const choices = files.data?.thing?.files ?? print?.files ?? [];
  const minutes = known?.timeSeconds ? Math.round(known.timeSeconds / 60) : undefined;
  const fault = (name: string) => failure?.of(name);
  const text = (name: 'printer' | 'material') => (
    <Field id={name} label={p[name]} fault={fault(name)}><input {...control(name, fault(name))} type="text" maxLength={100} defaultValue={known?.[name] ?? ''} /></Field>
  );
  const number = (name: 'layerHeight' | 'nozzle' | 'infill' | 'filamentGrams', label: string, max: number) => (
    <Field id={name} label={label} fault={fault(name)}><input {...control(name, fault(name))} type="number" min={0} max={max} step="any" inputMode="decimal" defaultValue={known?.[name] ?? ''} /></Field>
  );
  return (
    <details class="field print-fields" open={!!known || printed.length > 0}>
      <summary>{p.howPrinted}</summary>
      {file && known && <p class="quiet"><small>{p.fromSlicer}</small></p>}
      <div class="two">
        {text('printer')}
        {text('material')}
        {number('layerHeight', `${p.layerHeight} (mm)`, 10)}
        {number('nozzle', `${p.nozzle} (mm)`, 10)}
        {number('infill', `${p.infill} (%)`, 100)}
        <Field id="hasSupports" label={p.supports} fault={fault('hasSupports')}>
          <select {...control('hasSupports', fault('hasSupports'))}>
            <option value="">–</option>
            <option value="YES" {...initially(known?.hasSupports === true)}>{t.choices.YES}</option>
            <option value="NO" {...initially(known?.hasSupports === false)}>{t.choices.NO}</option>
          </select>
        </Field>
        <Field id="hours" label={p.hours} fault={fault('timeSeconds')}><input {...control('hours', fault('timeSeconds'))} type="number" min={0} max={2777} step={1} inputMode="numeric" defaultValue={minutes === undefined ? '' : Math.floor(minutes / 60)} /></Field>
        <Field id="minutes" label={p.minutes}><input {...control('minutes', '')} type="number" min={0} max={59} step={1} inputMode="numeric" defaultValue={minutes === undefined ? '' : minutes % 60} /></Field>
        {number('filamentGrams', `${p.filament} (g)`, 1_000_000)}
        <Field id="rating" label={p.rating} fault={fault('rating')}>
          <select {...control('rating', fault('rating'))}>
            <option value="">–</option>
            {p.ratings.map((label, index) => <option key={label} value={index + 1} {...initially(print?.rating === index + 1)}>{`${index + 1} – ${label}`}</option>)}
          </select>
        </Field>
      </div>
      {choices.length > 0 && (
        <fieldset class="field">
          <legend>{p.printedFiles}</legend>
          {choices.map((one) => <label key={one.id} class="check"><input type="checkbox" name="printed" value={one.id} defaultChecked={printed.includes(one.id)} /><span>{one.name}</span></label>)}
        </fieldset>
      )}
    </details>
  );
}
