import { useRef, useState } from 'preact/hooks';
import { mutate, useQuery } from '../cache';
import { Avatar } from '../components/Avatar';
import { Comments } from '../components/Comments';
import { NoPreview } from '../components/FileList';
import { Html } from '../components/Html';
import { Icon } from '../components/Icon';
import { LikeButton } from '../components/LikeButton';
import { MakePrint } from '../components/MakePrint';
import { Menu } from '../components/Menu';
import { ErrorNotice } from '../components/Notice';
import { PictureGallery } from '../components/PictureGallery';
import { ReasonDialog } from '../components/ReasonDialog';
import { ReportDialog } from '../components/ReportDialog';
import { askToSignIn } from '../components/SignInDialog';
import { say } from '../components/Toast';
import { isStaff, me } from '../config';
import { firstPictures, picturesToRead, pictureStep } from '../files';
import { date } from '../format';
import { deleteMake, make as makeQuery, makeComments, type MakeData } from '../generated';
import { useProcessing } from '../processing';
import { Loaded } from '../ondemand';
import { fromHere, href } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';

export function MakePage({ id, comment }: { id: string; comment: string | null }) {
  const [pictures, setPictures] = useState(firstPictures);
  const { data: read, error, reload } = useQuery(makeQuery, { id, images: picturesToRead(pictures) });
  const latest = useRef<{ data: MakeData; shown: number }>(); // stays while more pictures are loaded
  if (read) latest.current = { data: read, shown: pictures };
  const { data, shown = 0 } = latest.current ?? {};
  const [dialog, setDialog] = useState<'report' | 'delete' | 'edit' | ''>('');
  const make = data?.make;
  useTitle(make ? t.makeBy(make.name, make.creator.username) : undefined);
  useProcessing(make?.files ?? [], async () => reload());
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  if (!make) return <div class="page" aria-busy="true"><div class="thing-top skeleton"><div class="gallery"><div class="stage" /></div></div></div>;
  const more = {
    nodes: make.images.slice(0, shown), hasMore: make.images.length > shown, loadingMore: !read && !error, moreError: read ? undefined : error,
    loadMore: () => (read ? setPictures(pictures + pictureStep) : reload()),
  };
  const own = make.creator.username === me?.username;
  const remove = async (reason = '') => {
    const leave = fromHere();
    await mutate(deleteMake, { input: { id, reason } });
    leave(make.source ? `/thing:${make.source.id}` : '/', true);
    say(t.deleted);
  };
  return (
    <article class="page thing">
      <div class="thing-top">
        <PictureGallery name={make.name} pictures={more.nodes} more={more} />
        <div class="summary">
          <h1>{make.name}</h1>
          <div class="maker"><a class="by" href={href(`/${make.creator.username}`)} rel="author"><Avatar user={make.creator} size="medium" /><span>{make.creator.username}</span></a></div>
          <div class="actions">
            <LikeButton large kind="make" id={id} name={make.name} liked={make.isLiked} likes={make.likeCount} disabled={own} />
            <Menu label={t.more} button={<Icon name="more" />} kind="button icon-only">
              {own && <button type="button" onClick={() => setDialog('edit')}><Icon name="edit" />{t.edit}</button>}
              {!own && <button type="button" onClick={() => (me ? setDialog('report') : askToSignIn())}><Icon name="flag" />{t.report}</button>}
              {(own || isStaff) && (
                <button type="button" onClick={() => (own ? confirm(t.deleteMake) && remove().catch(say) : setDialog('delete'))}><Icon name="trash" />{t.delete}</button>
              )}
            </Menu>
          </div>
          <section class="panel" aria-label={t.makeOf}>
            <h2>{t.makeOf}</h2>
            {make.source
              ? (
                <ul class="ancestors"><li>
                  {make.source.defaultImage?.thumbnail ? <img src={make.source.defaultImage.thumbnail.url} alt="" width="48" height="48" /> : <span class="file-icon"><Icon name="cube" /></span>}
                  <span><a href={href(`/thing:${make.source.id}`)}>{make.source.name}</a><br /><span class="quiet">{t.by} {make.source.creator.username}</span></span>
                </li></ul>
              )
              : <p class="quiet">{t.thingGone}</p>}
          </section>
          {make.files.map((file) => file.processing.state === 'FAILED' && <p key={file.id} class="fault">{file.name}: <NoPreview {...file.processing} /></p>)}
          <p class="quiet"><time dateTime={make.createdAt}>{date(make.createdAt)}</time></p>
          {make.descriptionHtml && <Html html={make.descriptionHtml} />}
          {make.print && <MakePrint print={make.print} />}
        </div>
      </div>
      <h2 class="section-head">{t.comments}</h2>
      <Comments operation={makeComments} pick={(found) => found.make?.comments} target={{ type: 'MAKE', id }} owner={make.creator.username} linked={comment} />
      {dialog === 'edit' && <Loaded part={(parts) => parts.MakeDialog} make={{ ...make, images: more.nodes }} onClose={() => setDialog('')} onDone={reload} />}
      {dialog === 'report' && <ReportDialog nodeId={make.nodeId} onClose={() => setDialog('')} />}
      {dialog === 'delete' && <ReasonDialog title={t.delete} onClose={() => setDialog('')} onSend={remove} />}
    </article>
  );
}
