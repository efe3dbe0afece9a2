import type { ComponentChildren } from 'preact';
import { useQuery } from '../cache';
import { Dialog } from '../components/Dialog';
import { explain } from '../components/Toast';
import { decimal, millimeters, printingTime } from '../format';
import { printDetails, type PrintDetailsData } from '../generated';
import { t } from '../strings';
import { p } from './texts';

type File = NonNullable<PrintDetailsData['file']>;
type Settings = NonNullable<File['sliced']>['settings'];
type Row = [label: string, value: ComponentChildren];

const grams = (n: number) => `${decimal(Number(n.toFixed(n < 100 ? 1 : 0)))} g`;

function settingRows(settings: Settings): Row[] {
  const { slicer, version, printer, nozzle, layerHeight, infill, hasSupports } = settings;
  return [
    [p.slicer, slicer && [slicer, version].filter(Boolean).join(' ')],
    [p.printer, printer],
    [p.layerHeight, layerHeight !== null && `${decimal(layerHeight)} mm`],
    [p.nozzle, nozzle !== null && `${decimal(nozzle)} mm`],
    [p.infill, infill !== null && `${decimal(infill)} %`],
    [p.supports, hasSupports !== null && (hasSupports ? t.choices.YES : t.choices.NO)],
  ];
}

function Rows({ rows }: { rows: Row[] }) {
  return <dl class="meta">{rows.map(([label, value]) => value && [<dt key={label}>{label}</dt>, <dd key={`${label} value`}>{value}</dd>])}</dl>;
}

/** A circle in the color of a filament. The color is a presentation attribute, because the page has no inline styles. */
const Swatch = ({ color }: { color: string | null }) => (color ? <svg class="swatch" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="7" fill={color} /></svg> : null);

type Filament = { material: string | null; color: string | null; name: string | null };

function FilamentItem({ filament, use }: { filament?: Filament; use?: { length?: number | null; mass: number | null } }) {
  const name = [filament?.material, filament?.name !== filament?.material && filament?.name].filter(Boolean).join(', ') || filament?.color || p.filament;
  const used = [use?.mass && grams(use.mass), use?.length && p.meters(decimal(use.length / 1000))].filter(Boolean).join(', ');
  return <li><Swatch color={filament?.color ?? null} /><span>{name}{used && <span class="quiet"> {used}</span>}</span></li>;
}

function Sliced({ sliced }: { sliced: NonNullable<File['sliced']> }) {
  const { seconds, layers, filaments, min, max } = sliced;
  const mass = filaments.reduce((sum, use) => sum + (use.mass ?? 0), 0);
  return (
    <>
      <Rows rows={[
        [p.time, seconds !== null && printingTime(Number(seconds))],
        [p.filament, mass > 0 && grams(mass)],
        [p.layers, layers !== null && decimal(Number(layers))],
        [p.size, min && max && millimeters({ x: max.x - min.x, y: max.y - min.y, z: max.z - min.z })],
        ...settingRows(sliced.settings),
      ]} />
      {filaments.length > 0 && <><h3>{p.filaments}</h3><ul class="filaments">{filaments.map((use) => <FilamentItem key={use.tool} filament={use.filament} use={use} />)}</ul></>}
    </>
  );
}

function Project({ project }: { project: NonNullable<File['project']> }) {
  const { plates, filaments, objects } = project;
  return (
    <>
      <Rows rows={settingRows(project.settings)} />
      {filaments.length > 0 && <><h3>{p.filaments}</h3><ul class="filaments">{filaments.map((filament, index) => <FilamentItem key={index} filament={filament} />)}</ul></>}
      {plates.length > 0 && (
        <>
          <h3>{p.plates(project.plateCount)}</h3>
          <ol class="plates">
            {plates.map((plate) => (
              <li key={plate.number} class="panel">
                <h4>{plate.name ?? p.plate(plate.number)}</h4>
                <Rows rows={[
                  [p.time, plate.seconds !== null && printingTime(Number(plate.seconds))],
                  [p.filament, plate.mass !== null && grams(plate.mass)],
                  [p.supports, plate.hasSupports !== null && (plate.hasSupports ? t.choices.YES : t.choices.NO)],
                  [p.objects, plate.objects.length > 0 && plate.objects.join(', ')],
                  [p.printed, plate.isPrintable === false && t.choices.NO],
                ]} />
                {plate.filaments.length > 0 && <ul class="filaments">{plate.filaments.map((use) => <FilamentItem key={use.tool} filament={filaments[use.tool - 1]} use={use} />)}</ul>}
              </li>
            ))}
          </ol>
          {project.plateCount > plates.length && <p class="quiet">{p.more(project.plateCount - plates.length)}</p>}
        </>
      )}
      {plates.length === 0 && objects.length > 0 && (
        <>
          <h3>{p.objects}</h3>
          <ul class="filaments">{objects.map((object, index) => <li key={index}>{object.name || object.parts[0]?.name || p.object(index + 1)}</li>)}</ul>
          {project.objectCount > objects.length && <p class="quiet">{p.more(project.objectCount - objects.length)}</p>}
        </>
      )}
    </>
  );
}

/** A dialog with what a slicer says in a file. */
export function PrintDetails({ file, onClose }: { file: { id: string; name: string }; onClose?: () => void }) {
  const { data, error } = useQuery(printDetails, { id: file.id });
  const { thumbnail, sliced, project } = data?.file ?? {};
  return (
    <Dialog title={t.printDetails} onClose={onClose!}>
      <div class="print-details" aria-busy={!data && !error}>
        <p class="quiet">{file.name}</p>
        {error && !data && <p class="fault" role="alert">{explain(error)}</p>}
        {thumbnail && <img src={thumbnail.url} width={thumbnail.width} height={thumbnail.height} alt="" />}
        {sliced && <Sliced sliced={sliced} />}
        {project && <Project project={project} />}
        {data && !sliced && !project && <p>{p.nothing}</p>}
        {(sliced || project) && <p class="quiet"><small>{p.asWritten}</small></p>}
      </div>
    </Dialog>
  );
}
