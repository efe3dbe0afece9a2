import { useState } from 'preact/hooks';
import { mutate, useList, useQuery, type List } from '../cache';
import { Avatar } from '../components/Avatar';
import { CollectionCard } from '../components/CollectionCard';
import { CollectionForm } from '../components/CollectionForm';
import { control, Field, initially } from '../components/Field';
import { FollowButton } from '../components/FollowButton';
import { Grid } from '../components/Grid';
import { Html } from '../components/Html';
import { Icon } from '../components/Icon';
import { MakeCard } from '../components/MakeCard';
import { Menu } from '../components/Menu';
import { ErrorNotice } from '../components/Notice';
import { PersonCard } from '../components/PersonCard';
import { ReasonDialog } from '../components/ReasonDialog';
import { ReportDialog } from '../components/ReportDialog';
import { askToSignIn } from '../components/SignInDialog';
import { LinkTabs } from '../components/Tabs';
import { ThingCard } from '../components/ThingCard';
import { isStaff, me } from '../config';
import { compact, date } from '../format';
import {
  drafts, profile, profileCollections, profileDesigns, profileFollowers, profileFollowing, profileLikes, profileMakes, setUserRole, suspendUser, unsuspendUser, type Card, type Person, type ProfileData, type Role,
} from '../generated';
import { Managed } from '../ondemand';
import { href } from '../router';
import { t } from '../strings';
import { useTitle } from '../title';

type User = NonNullable<ProfileData['user']>;

export function ProfilePage({ username, tab }: { username: string; tab: string }) {
  const { data, error, reload } = useQuery(profile, { username });
  useTitle(data?.user?.username ?? (error ? undefined : username));
  if (error && !data) return <ErrorNotice error={error} retry={reload} />;
  const user = data?.user;
  if (!user) return <div class="page" aria-busy="true" />;
  const number = (n: number) => (n > 0 ? compact(n) : undefined);
  return (
    <div class="page">
      <Head user={user} reload={reload} />
      <LinkTabs label={user.username} current={tab} hrefOf={(id) => href(`/${user.username}${id === 'designs' ? '' : `/${id}`}`)} tabs={[
        { id: 'designs', title: t.designs, count: number(user.thingCount) },
        ...(user.isViewer ? [{ id: 'drafts', title: t.drafts }, { id: 'problems', title: t.problems }] : []),
        { id: 'makes', title: t.makes, count: number(user.makeCount) },
        { id: 'collections', title: t.collections, count: number(user.collectionCount) },
        { id: 'likes', title: t.likedTab, count: number(user.likeCount) },
        { id: 'followers', title: t.followers, count: number(user.followerCount) },
        { id: 'following', title: t.followingTab, count: number(user.followingCount) },
      ]} />
      <TabContent key={tab} username={user.username} tab={tab} own={user.isViewer} />
    </div>
  );
}

function Head({ user, reload }: { user: User; reload: () => void }) {
  const [dialog, setDialog] = useState<'report' | 'suspend' | 'role' | ''>('');
  const suspendTitle = user.suspension ? t.unsuspend : t.suspend;
  const name = `${user.firstName} ${user.lastName}`.trim();
  return (
    <header class="profile">
      {user.coverUrl && <img class="profile-cover" src={user.coverUrl} alt="" />}
      <div class="profile-head">
        <Avatar user={user} size="large" />
        <div>
          <h1>{user.username}</h1>
          <p class="quiet">{[name, user.location, t.roles[user.role], t.memberSince(date(user.createdAt))].filter(Boolean).join(' · ')}</p>
        </div>
        <div class="actions">
          {user.isViewer
            ? <a class="button" href={href('/settings')}><Icon name="edit" />{t.edit}</a>
            : (
              <>
                <FollowButton person={user} />
                <Menu label={t.more} button={<Icon name="more" />} kind="button icon-only">
                  <button type="button" onClick={() => (me ? setDialog('report') : askToSignIn())}><Icon name="flag" />{t.report}</button>
                  {isStaff && <button type="button" onClick={() => setDialog('suspend')}><Icon name="shield" />{suspendTitle}</button>}
                  {me?.role === 'ADMINISTRATOR' && <button type="button" onClick={() => setDialog('role')}><Icon name="user" />{t.changeRole}</button>}
                </Menu>
              </>
            )}
        </div>
      </div>
      {user.suspension && <p class="warning">{t.suspended} {user.suspension.reason}</p>}
      {user.bioHtml && <Html html={user.bioHtml} />}
      {dialog === 'report' && <ReportDialog nodeId={user.nodeId} onClose={() => setDialog('')} />}
      {dialog === 'suspend' && <ReasonDialog title={suspendTitle} onClose={() => setDialog('')} onSend={async (reason) => {
        await mutate(user.suspension ? unsuspendUser : suspendUser, { input: { username: user.username, reason } });
        reload();
      }} />}
      {dialog === 'role' && (
        <ReasonDialog title={t.changeRole} onClose={() => setDialog('')} onSend={async (reason, form) => {
          await mutate(setUserRole, { input: { username: user.username, role: form.get('role') as Role, reason } });
          reload();
        }}>
          <Field id="role" label={t.role}>
            <select {...control('role', '')}>
              {(Object.keys(t.roles) as Role[]).map((role) => <option key={role} value={role} {...initially(role === user.role)}>{t.roles[role] || t.member}</option>)}
            </select>
          </Field>
        </ReasonDialog>
      )}
    </header>
  );
}

function TabContent({ username, tab, own }: { username: string; tab: string; own: boolean }) {
  switch (tab) {
    case 'drafts': return own ? <Drafts /> : null;
    case 'problems': return own ? <Managed part={(parts) => parts.Problems} /> : null;
    case 'makes': return <Makes username={username} />;
    case 'collections': return <Collections username={username} own={own} />;
    case 'likes': return <Likes username={username} />;
    case 'followers': return <Followers username={username} />;
    case 'following': return <Following username={username} />;
  }
  return <Designs username={username} own={own} />;
}

function Things<D, N extends Card>({ list, own = false }: { list: List<D, N>; own?: boolean }) {
  const action = own && <a class="button primary" href={href('/upload')}>{t.upload}</a>;
  const [selecting, setSelecting] = useState(false);
  if (selecting) return <Managed part={(parts) => parts.Selection} list={list} onClose={() => setSelecting(false)} />;
  return <>
    {own && list.nodes.length > 0 && <p><button type="button" class="button" onClick={() => setSelecting(true)}><Icon name="check" />{t.select}</button></p>}
    <Grid title={t.designs} list={list} action={action} keyOf={(thing) => thing.id} item={(thing, index) => <ThingCard thing={thing} at={index} />} />
  </>;
}

function People<D>({ list }: { list: List<D, Person> }) {
  return <Grid title={t.types.USERS} list={list} narrow keyOf={(person) => person.username} item={(person) => <PersonCard person={person} />} />;
}

const Designs = ({ username, own }: { username: string; own: boolean }) => <Things own={own} list={useList(profileDesigns, { username }, (data) => data.user?.list)} />;
const Drafts = () => <Things own list={useList(drafts, {}, (data) => data.me?.drafts)} />;
const Likes = ({ username }: { username: string }) => <Things list={useList(profileLikes, { username }, (data) => data.user?.list)} />;
const Followers = ({ username }: { username: string }) => <People list={useList(profileFollowers, { username }, (data) => data.user?.list)} />;
const Following = ({ username }: { username: string }) => <People list={useList(profileFollowing, { username }, (data) => data.user?.list)} />;

function Makes({ username }: { username: string }) {
  const list = useList(profileMakes, { username }, (data) => data.user?.list);
  return <Grid title={t.makes} list={list} keyOf={(make) => make.id} item={(make) => <MakeCard make={make} />} />;
}

function Collections({ username, own }: { username: string; own: boolean }) {
  const list = useList(profileCollections, { username }, (data) => data.user?.list);
  const [creating, setCreating] = useState(false);
  return (
    <>
      {own && <p><button type="button" class="button" onClick={() => setCreating(true)}><Icon name="plus" />{t.newCollection}</button></p>}
      <Grid title={t.collections} list={list} keyOf={(collection) => collection.id} item={(collection) => <CollectionCard collection={collection} />} />
      {creating && <CollectionForm onClose={() => setCreating(false)} onDone={list.reload} />}
    </>
  );
}
