import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { session } from '../../frame/session.ts';
import { t } from '../../texts/en.ts';

const words = t.mails;

type Way = 'wide' | 'narrow' | 'plain';

/**
 * A mail as its reader sees it: as wide as a screen or a phone, light or dark, or its text part alone. The page stands
 * in a frame that runs and loads nothing, filled by a form because a frame filled by script has our own policy.
 */
export function MailView({ html, text }: { html: string | null; text: string }) {
  const way = useSignal<Way>(html === null ? 'plain' : 'wide');
  const isDark = useSignal<boolean | undefined>(undefined);
  const ways: readonly (readonly [Way, string])[] = [
    ...(html === null
      ? []
      : ([
          ['wide', words.wide],
          ['narrow', words.narrow],
        ] as const)),
    ['plain', words.plain],
  ];
  return (
    <div class="mail-view">
      <div class="bar">
        <fieldset class="choices">
          <legend class="unseen">{words.how}</legend>
          {ways.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={way.value === name}
              onClick={() => {
                way.value = name;
              }}
            >
              {label}
            </button>
          ))}
        </fieldset>
        {way.value !== 'plain' && (
          <fieldset class="choices">
            <legend class="unseen">{words.whichLight}</legend>
            {([false, true] as const).map((dark) => (
              <button
                key={String(dark)}
                type="button"
                aria-pressed={isDark.value === dark}
                onClick={() => {
                  isDark.value = isDark.value === dark ? undefined : dark;
                }}
              >
                {dark ? words.dark : words.light}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      {way.value === 'plain' || html === null ? (
        <pre class="json mail-text">{text}</pre>
      ) : (
        <MailFrame html={inLight(html, isDark.value)} isNarrow={way.value === 'narrow'} />
      )}
    </div>
  );
}

/** The mail as a reader in light or in dark shows it; undefined: as this browser does. A frame follows no other wish. */
const inLight = (html: string, isDark: boolean | undefined): string =>
  isDark === undefined ? html : html.replaceAll('(prefers-color-scheme: dark)', isDark ? 'all' : 'not all');

function MailFrame({ html, isNarrow }: { html: string; isNarrow: boolean }) {
  const name = `mail-${useId()}`;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.submit(), [html]);
  return (
    <>
      <form ref={form} method="post" action="/console/mail-view" target={name} hidden>
        <input type="hidden" name="token" value={session.value?.csrf_token ?? ''} />
        <input type="hidden" name="html" value={html} />
      </form>
      <iframe class={isNarrow ? 'mail narrow' : 'mail'} name={name} title={words.shownMail} sandbox="" />
    </>
  );
}
