import { useState } from 'preact/hooks';
import { useList, useQuery } from '../cache';
import { Comments } from '../components/Comments';
import { FileList } from '../components/FileList';
import { Grid, More } from '../components/Grid';
import { Html } from '../components/Html';
import { Icon } from '../components/Icon';
import { LicenseBox } from '../components/LicenseBox';
import { MakeCard } from '../components/MakeCard';
import { ErrorNotice } from '../components/Notice';
import { PictureGallery } from '../components/PictureGallery';
import { PrintSettings } from '../components/PrintSettings';
import { askToSignIn } from '../components/SignInDialog';
import { Tabs } from '../components/Tabs';
import { ThingCard } from '../components/ThingCard';
import { ThingSummary, type Thing } from '../components/ThingSummary';
import { me } from '../config';
import { compact } from '../format';
import { useFiles } from '../files';
import { thing as thingQuery, thingComments, thingMakes, thingRemixes } from '../generated';
import { keyOf } from '../keys';
import { useProcessing } from '../processing';
import { OnDemand } from '../ondemand';
import { href, navigate } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';

type Shown = { tab: string; comment: string | null };

export function ThingPage({ id, ...shown }: { id: string } & Shown) {
  const { data, error, loading, reload } = useQuery(thingQuery, { id });
  useTitle(data?.thing?.name);
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  if (loading || !data?.thing) return <ThingSkeleton />;
  return <ThingView read={data.thing} {...shown} reload={reload} />;
}

function ThingView({ read, tab, comment, reload }: { read: Thing } & Shown & { reload: () => void }) {
  const { thing, refresh, files, pictures } = useFiles(read);
  useProcessing(thing.files, refresh);
  const setTab = (id: string) => navigate(`/thing:${thing.id}${id === 'details' ? '' : `/${id}`}${keyOf(thing.id)}`, true);
  const [model, setModel] = useState('');
  const models = thing.files.filter((file) => file.mesh);
  const number = (n: number) => (n > 0 ? compact(n) : undefined);
  const show3D = (id: string) => {
    setModel(id);
    if (id) document.querySelector('.gallery')?.scrollIntoView({ block: 'start', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
  };
  return (
    <article class="page thing">
      <div class="thing-top">
        <PictureGallery name={thing.name} pictures={thing.images} more={pictures} models={models} shown={model} after="summary" onShow={show3D} />
        <ThingSummary thing={thing} reload={reload} />
      </div>
      <Tabs label={thing.name} current={tab} onChoose={setTab} tabs={[
        { id: 'details', title: t.details },
        { id: 'files', title: t.files, count: number(thing.fileCount) },
        { id: 'comments', title: t.comments, count: number(thing.commentCount) },
        { id: 'makes', title: t.makes, count: number(thing.makeCount) },
        { id: 'remixes', title: t.remixes, count: number(thing.remixCount) },
      ]}>
        {tab === 'details' && <Details thing={thing} />}
        {tab === 'files' && <><FileList thing={thing} files={thing.files} takenDown={thing.takedown !== null} onView={show3D} onMake={reload} /><More list={files} still /></>}
        {tab === 'comments' && <Comments operation={thingComments} pick={(data) => data.thing?.comments} target={{ type: 'THING', id: thing.id }} owner={thing.creator.username} linked={comment} />}
        {tab === 'makes' && <Makes thing={thing} reload={reload} />}
        {tab === 'remixes' && <Remixes id={thing.id} />}
      </Tabs>
    </article>
  );
}

function Details({ thing }: { thing: Thing }) {
  return (
    <div class="thing-details">
      <div>
        {thing.descriptionHtml ? <Html html={thing.descriptionHtml} /> : <p class="quiet">{t.noDescription}</p>}
        {thing.instructionsHtml && <><h2>{t.instructions}</h2><Html html={thing.instructionsHtml} /></>}
      </div>
      <div class="aside">
        <LicenseBox license={thing.licenseInfo} />
        <PrintSettings settings={thing.printSettings} />
        {thing.ancestors.nodes.length > 0 && (
          <section class="panel" aria-label={t.remixOf}>
            <h2>{t.remixOf}</h2>
            <ul class="ancestors">
              {thing.ancestors.nodes.map((one) => (
                <li key={one.id}>
                  {one.defaultImage?.thumbnail ? <img src={one.defaultImage.thumbnail.url} alt="" width="48" height="48" loading="lazy" /> : <span class="file-icon"><Icon name="cube" /></span>}
                  <span><a href={href(`/thing:${one.id}`)}>{one.name}</a><br /><span class="quiet">{t.by} {one.creator.username}</span></span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </div>
  );
}

function Makes({ thing, reload }: { thing: Thing; reload: () => void }) {
  const list = useList(thingMakes, { id: thing.id }, (data) => data.thing?.makes);
  const done = () => {
    list.reload();
    reload();
  };
  return (
    <>
      <div class="actions">
        {me
          ? <OnDemand part={(parts) => parts.MakeDialog} thing={thing} onDone={done} kind="button primary" label={t.addMake}><Icon name="plus" />{t.addMake}</OnDemand>
          : <button type="button" class="button primary" onClick={askToSignIn}><Icon name="plus" />{t.addMake}</button>}
        {thing.makeCount > 0 && <OnDemand part={(parts) => parts.PrintSummary} id={thing.id} replaced label={t.howPrinted}><Icon name="sliders" />{t.howPrinted}</OnDemand>}
      </div>
      <Grid title={t.makes} list={list} empty={t.noMakes} keyOf={(make) => make.id} item={(make) => <MakeCard make={make} />} />
    </>
  );
}

function Remixes({ id }: { id: string }) {
  const list = useList(thingRemixes, { id }, (data) => data.thing?.remixes);
  return <Grid title={t.remixes} list={list} empty={t.noRemixes} keyOf={(thing) => thing.id} item={(thing) => <ThingCard thing={thing} />} />;
}

function ThingSkeleton() {
  return (
    <div class="page thing" aria-busy="true">
      <div class="thing-top skeleton"><div class="gallery"><div class="stage" /></div><div class="summary"><span class="line tall" /><span class="line" /><span class="line short" /></div></div>
    </div>
  );
}
