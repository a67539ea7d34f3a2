import { signal, useSignal } from '@preact/signals';
import { type ComponentType, Fragment } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Page } from '../parts/page.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { t } from '../texts/en.ts';
import { isOffline } from './api.ts';
import { ClockBar } from './clock-bar.tsx';
import { Keyboard } from './keyboard.tsx';
import { LiveRegion } from './live-region.tsx';
import { forgetRequests } from './requests.ts';
import { mayOpen, ROOMS, type Room } from './rooms.ts';
import { go, route, to } from './route.ts';
import { SearchBox, searchIsOpen } from './search-box.tsx';
import { entryFault, hasEnded, OPERATIONS, organization, session, signOut } from './session.ts';
import { SignIn, SignInAgain } from './sign-in.tsx';
import { themeChoice, themes } from './theme.ts';

const menuIsOpen = signal(false);

const GROUPS = [
  ['work', t.frame.menuCustomers],
  ['sell', t.frame.menuCatalog],
  ['build', t.frame.menuIntegration],
  ['run', t.frame.menuOperation],
] as const;

/** The console: sign-in, or the frame with the room of the address. */
export function Shell() {
  const { slug } = route.value;
  if (session.value === undefined) return <Loading />;
  if (session.value === null) return <SignIn />;
  if (organization.value === undefined && !(session.value.operator && route.value.room === 'operations'))
    return slug === undefined && (session.value.organizations.length > 0 || session.value.operator) ? (
      <Enter />
    ) : (
      <SignIn wanted={slug} />
    );
  return <Frame />;
}

/** From `/console` on to the first organization. */
function Enter() {
  useEffect(() => {
    const first = session.value?.organizations[0];
    go(first ? `/console/o/${encodeURIComponent(first.slug)}/home` : OPERATIONS, { replaces: true });
  }, []);
  return <Loading />;
}

function Frame() {
  const { room: name } = route.value;
  const isSandbox = organization.value?.sandbox === true;
  return (
    <div class={`frame ${isSandbox ? 'sandbox' : ''} ${menuIsOpen.value ? 'menu-open' : ''}`}>
      <a class="skip" href="#content">
        {t.frame.skipToPage}
      </a>
      <Menu open={name} />
      <div class="right">
        <Head />
        {isOffline.value && (
          <p class="banner" role="alert">
            {t.frame.offline}
          </p>
        )}
        {entryFault.value && (
          <p class="banner" role="alert">
            {entryFault.value}{' '}
            <button
              type="button"
              class="quiet small"
              onClick={() => {
                entryFault.value = undefined;
              }}
            >
              {t.parts.close}
            </button>
          </p>
        )}
        <main id="content">
          <OpenRoom key={route.value.slug} />
        </main>
        {organization.value?.sandbox && <ClockBar />}
      </div>
      {searchIsOpen.value && <SearchBox />}
      {hasEnded.value && <SignInAgain />}
      <Keyboard />
      <LiveRegion />
    </div>
  );
}

function Menu({ open }: { open: string }) {
  return (
    <nav class="menu" aria-label={t.frame.rooms}>
      <a class="brand" href={organization.value ? to('home') : OPERATIONS}>
        <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
          <rect x="3" y="13" width="4" height="8" rx="1" />
          <rect x="10" y="8" width="4" height="13" rx="1" />
          <rect x="17" y="3" width="4" height="18" rx="1" />
        </svg>
        Meterstone
      </a>
      {GROUPS.map(([group, text]) => {
        const rooms = ROOMS.filter((room) => room.group === group && mayOpen(room));
        if (rooms.length === 0) return null;
        return (
          <Fragment key={group}>
            <h2>{text}</h2>
            <ul>
              {rooms.map((room) => (
                <li key={room.name}>
                  <a
                    href={to(room.name)}
                    aria-current={room.name === open ? 'page' : undefined}
                    onClick={() => {
                      menuIsOpen.value = false;
                    }}
                  >
                    {room.text}
                  </a>
                </li>
              ))}
            </ul>
          </Fragment>
        );
      })}
      <p class="version soft">
        {t.frame.version}
        {session.value?.version}
      </p>
    </nav>
  );
}

function Head() {
  return (
    <header class="head">
      <button
        type="button"
        class="icon burger"
        aria-label={t.frame.menu}
        aria-expanded={menuIsOpen.value}
        onClick={() => {
          menuIsOpen.value = !menuIsOpen.value;
        }}
      >
        ☰
      </button>
      <OrganizationSwitch />
      <button
        type="button"
        class="search-button"
        onClick={() => {
          searchIsOpen.value = true;
        }}
      >
        <span>{t.frame.searchField}</span> <kbd>/</kbd>
      </button>
      <label class="theme">
        <span class="unseen">{t.frame.theme}</span>
        <select
          value={themeChoice.value}
          onChange={(event) => {
            themeChoice.value = event.currentTarget.value as never;
          }}
        >
          {themes.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </header>
  );
}

function OrganizationSwitch() {
  const known = session.value?.organizations ?? [];
  const here = organization.value;
  return (
    <details class="switch">
      <summary>
        <span class="name">{here?.name ?? t.frame.operator}</span>
        {here?.sandbox && <span class="badge wait">{t.frame.sandbox}</span>}
      </summary>
      <div class="sheet">
        {known.map(({ svc_id, slug, name, sandbox }) => (
          <a key={svc_id} href={`/console/o/${encodeURIComponent(slug)}/home`} aria-current={svc_id === here?.svc_id}>
            {name} {sandbox && <span class="badge wait">{t.frame.sandbox}</span>}
          </a>
        ))}
        {here && (
          <p class="soft">
            {t.frame.signedInWith}
            {here.signed_in_as.name ? `“${here.signed_in_as.name}”` : 'key'} …{here.signed_in_as.last4}
          </p>
        )}
        <a href="/console/o/+/home">{t.frame.addOrganizationMore}</a>
        {here && known.length > 1 && (
          <button type="button" class="quiet" onClick={() => void signOut(here.svc_id)}>
            {t.frame.signOutOf(here.name)}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => void signOut()}>
          {t.frame.signOut}
        </button>
      </div>
    </details>
  );
}

const loaded = new Map<string, ComponentType>();

function OpenRoom() {
  const { room: name, id, tab } = route.value;
  const room = ROOMS.find((each) => each.name === name);
  useMemo(forgetRequests, [name, id]);
  if (!room)
    return (
      <Page title={t.frame.noSuchPage}>
        <Empty title={t.frame.noSuchRoom}>
          <a href={to('home')}>{t.frame.home}</a>
        </Empty>
      </Page>
    );
  if (!mayOpen(room)) return <MayNot room={room} />;
  const list = id === undefined ? undefined : own(room.lists, id);
  if (list !== undefined)
    return <Moved href={tab === undefined ? to(name, undefined, undefined, { show: list }) : to(name, tab)} />;
  return <Loaded key={name} room={room} />;
}

const own = (lists: Record<string, string> = {}, word: string): string | undefined =>
  Object.hasOwn(lists, word) ? lists[word] : undefined;

/** An address that stands for another one. */
function Moved({ href }: { href: string }) {
  useEffect(() => go(href, { replaces: true }), [href]);
  return <Loading />;
}

function MayNot({ room }: { room: Room }) {
  return (
    <Page title={room.text}>
      <Empty title={room.needs ? t.frame.needsPermission(room.needs) : t.frame.roomClosed}>
        <p class="soft">{t.frame.needsPermissionHint}</p>
      </Empty>
    </Page>
  );
}

function Loaded({ room }: { room: Room }) {
  const Content = useSignal(loaded.get(room.name));
  const failed = useSignal(false);
  useEffect(() => {
    if (Content.value) return;
    room.load().then(
      (module) => {
        loaded.set(room.name, module.default);
        Content.value = module.default;
      },
      () => {
        failed.value = true;
      },
    );
  }, []);
  if (failed.value)
    return (
      <div class="notice bad" role="alert">
        <p>{t.frame.chunkMissing}</p>
        <button type="button" onClick={() => location.reload()}>
          {t.frame.reload}
        </button>
      </div>
    );
  const Found = Content.value;
  return Found ? <Found /> : <Loading />;
}
