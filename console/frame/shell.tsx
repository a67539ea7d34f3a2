import { signal, useSignal } from '@preact/signals';
import { type ComponentType, Fragment } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Page } from '../parts/page.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { isOffline } from './api.ts';
import { ClockBar } from './clock-bar.tsx';
import { Keyboard } from './keyboard.tsx';
import { LiveRegion } from './live-region.tsx';
import { forgetRequests } from './requests.ts';
import { mayOpen, ROOMS, type Room } from './rooms.ts';
import { go, route, to } from './route.ts';
import { SearchBox, searchIsOpen } from './search-box.tsx';
import { hasEnded, OPERATIONS, organization, session, signOut } from './session.ts';
import { SignIn, SignInAgain } from './sign-in.tsx';
import { themeChoice, themes } from './theme.ts';

const menuIsOpen = signal(false);

const GROUPS = [
  ['work', 'Customers and money'],
  ['sell', 'What we sell'],
  ['build', 'Integration'],
  ['run', 'Operation'],
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
        Skip to the page
      </a>
      <Menu open={name} />
      <div class="right">
        <Head />
        {isOffline.value && (
          <p class="banner" role="alert">
            You are offline. What you see is from before; it is read again when the connection is back.
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
    <nav class="menu" aria-label="Rooms">
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
      <p class="version soft">Version {session.value?.version}</p>
    </nav>
  );
}

function Head() {
  return (
    <header class="head">
      <button
        type="button"
        class="icon burger"
        aria-label="Menu"
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
        <span>Search or jump to …</span> <kbd>/</kbd>
      </button>
      <label class="theme">
        <span class="unseen">Colours</span>
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
        <span class="name">{here?.name ?? 'Operator'}</span>
        {here?.sandbox && <span class="badge wait">sandbox</span>}
      </summary>
      <div class="sheet">
        {known.map(({ svc_id, slug, name, sandbox }) => (
          <a key={svc_id} href={`/console/o/${encodeURIComponent(slug)}/home`} aria-current={svc_id === here?.svc_id}>
            {name} {sandbox && <span class="badge wait">sandbox</span>}
          </a>
        ))}
        {here && (
          <p class="soft">
            Signed in with {here.signed_in_as.name ? `“${here.signed_in_as.name}”` : 'key'} …{here.signed_in_as.last4}
          </p>
        )}
        <a href="/console/o/+/home">Add an organization …</a>
        {here && known.length > 1 && (
          <button type="button" class="quiet" onClick={() => void signOut(here.svc_id)}>
            {`Sign out of ${here.name}`}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </details>
  );
}

const loaded = new Map<string, ComponentType>();

function OpenRoom() {
  const { room: name, id } = route.value;
  const room = ROOMS.find((each) => each.name === name);
  useMemo(forgetRequests, [name, id]);
  if (!room)
    return (
      <Page title="There is no such page">
        <Empty title="The address names no room of the console.">
          <a href={to('home')}>Home</a>
        </Empty>
      </Page>
    );
  if (!mayOpen(room)) return <MayNot room={room} />;
  return <Loaded key={name} room={room} />;
}

function MayNot({ room }: { room: Room }) {
  return (
    <Page title={room.text}>
      <Empty title={room.needs ? `This room needs the permission ${room.needs}:read.` : 'This room is not open here.'}>
        <p class="soft">Your key does not have it. Sign in with one that does, or ask who manages your keys.</p>
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
        <p>A part of the console could not be loaded: there is a new version of it.</p>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    );
  const Found = Content.value;
  return Found ? <Found /> : <Loading />;
}
