import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../frame/live-region.tsx';
import { requestsOfPage } from '../frame/requests.ts';
import { address } from '../frame/route.ts';
import { t } from '../texts/en.ts';
import { CurlLine } from './curl-line.tsx';
import { Dialog } from './dialog.tsx';

/** A page: its heading, what can be done, its content, and the requests that made it. */
export function Page({
  title,
  badge,
  under,
  actions,
  back,
  children,
}: {
  title: string;
  badge?: ComponentChildren;
  under?: ComponentChildren;
  actions?: ComponentChildren;
  back?: { href: string; text: string };
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const path = address.value.split('?')[0];
  useEffect(() => {
    document.title = t.parts.documentTitle(title);
  }, [title]);
  // In the commit: after the next frame it would take the focus from a field that is in use by then.
  useLayoutEffect(() => {
    heading.current?.focus({ preventScroll: true });
    announce(title);
  }, [path]);
  return (
    <>
      <header class="page">
        <div>
          {back && (
            <a class="back" href={back.href}>
              ← {back.text}
            </a>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title} {badge}
          </h1>
          {under && <p class="soft under">{under}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
      <Requests />
    </>
  );
}

/** The requests that made the page, as curl lines. */
function Requests() {
  const [isOpen, setOpen] = useState(false);
  const requests = requestsOfPage.value;
  return (
    <footer class="made-by">
      <button type="button" class="quiet" data-requests onClick={() => setOpen(true)}>
        {t.parts.madeBy(requests.length, requests.length === 1 ? 'request' : 'requests')}
      </button>
      {isOpen && (
        <Dialog title={t.parts.pageRequests} onClose={() => setOpen(false)}>
          <p class="soft">{t.parts.pageRequestsHint}</p>
          {requests.map((request) => (
            <CurlLine key={request.path} request={request} />
          ))}
        </Dialog>
      )}
    </footer>
  );
}

export function Section({
  title,
  more,
  children,
}: {
  title: string;
  more?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section">
      <header>
        <h2>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  );
}

/** Facts of a record as pairs. */
export function Facts({ of }: { of: readonly (readonly [label: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value === null || value === undefined || value === '' ? <span class="soft">–</span> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** So much of the tab before the open one is seen, as a sign that there is one. */
const TAB_MARGIN_PX = 48;

/** Tabs of a record, each with an address. */
export function Tabs({ of, open }: { of: readonly { name: string; text: string; href: string }[]; open: string }) {
  const bar = useRef<HTMLElement>(null);
  // On a phone the open one may lie beyond the edge. The page itself stays where it is.
  useLayoutEffect(() => {
    const chosen = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (bar.current && chosen) bar.current.scrollLeft = chosen.offsetLeft - bar.current.offsetLeft - TAB_MARGIN_PX;
  }, [open]);
  return (
    <nav class="tabs" aria-label={t.parts.pageParts} ref={bar}>
      {of.map(({ name, text, href }) => (
        <a key={name} href={href} aria-current={name === open ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
