import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { t } from '../texts/en.ts';
import { entryFault, hasEnded, session, signIn } from './session.ts';
import { readAllAgain } from './use-read.ts';

/** The page for who is not signed in, or not to the organization of the address. */
export function SignIn({ wanted }: { wanted?: string | undefined }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = t.frame.signInDocumentTitle;
    heading.current?.focus();
  }, []);
  const known = session.value?.organizations ?? [];
  return (
    <main class="sign-in">
      <div class="brand">
        <svg viewBox="0 0 24 24" width="30" height="30" aria-hidden="true">
          <rect x="3" y="13" width="4" height="8" rx="1" />
          <rect x="10" y="8" width="4" height="13" rx="1" />
          <rect x="17" y="3" width="4" height="18" rx="1" />
        </svg>
      </div>
      <h1 ref={heading} tabIndex={-1}>
        {known.length > 0 ? t.frame.addOrganization : t.frame.signInTitle}
      </h1>
      {wanted !== undefined && wanted !== '+' && (
        <p class="soft">
          {t.frame.pageBelongsTo}
          {wanted}
          {t.frame.signInForPage}
        </p>
      )}
      {entryFault.value && (
        <p class="notice bad" role="alert">
          {entryFault.value}
        </p>
      )}
      <KeyForm />
      {known.length > 0 && (
        <p>
          {known.map(({ slug, name }) => (
            <a key={slug} class="known" href={`/console/o/${encodeURIComponent(slug)}/home`}>
              {t.frame.backTo}
              {name}
            </a>
          ))}
        </p>
      )}
      <p class="soft">
        {t.frame.signInAbout}
        <code>{t.frame.linkCommand}</code>.
      </p>
    </main>
  );
}

/** The session has ended: the page below keeps what was typed, and what it was refused meanwhile is read again. */
export function SignInAgain() {
  return (
    <Dialog
      title={t.frame.sessionEnded}
      onClose={() => {
        hasEnded.value = false;
      }}
    >
      <p class="soft">{t.frame.sessionEndedHint}</p>
      <KeyForm onEntered={readAllAgain} />
    </Dialog>
  );
}

/** `onEntered` is called once somebody has signed in. */
function KeyForm({ onEntered = async () => {} }: { onEntered?: () => Promise<void> }) {
  const fault = useSignal<string | undefined>(undefined);
  const isSending = useSignal(false);
  const isOperator = useSignal(false);
  const enter = async (event: SubmitEvent) => {
    event.preventDefault();
    const secret = String(new FormData(event.currentTarget as HTMLFormElement).get('secret')).trim();
    if (secret === '' || isSending.value) return;
    isSending.value = true;
    fault.value = await signIn(isOperator.value ? { operator_token: secret } : { api_key: secret });
    isSending.value = false;
    if (fault.value === undefined) await onEntered();
  };
  return (
    <form class="card" onSubmit={(event) => void enter(event as unknown as SubmitEvent)}>
      <div class="field">
        <label for="secret">{isOperator.value ? t.frame.operatorToken : t.frame.apiKey}</label>
        <input
          id="secret"
          name="secret"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-invalid={fault.value !== undefined}
          aria-describedby={fault.value ? 'secret-fault' : undefined}
        />
        {fault.value && (
          <span id="secret-fault" class="fault" role="alert">
            {fault.value}
          </span>
        )}
      </div>
      <div class="actions">
        <button
          type="button"
          class="quiet"
          onClick={() => {
            isOperator.value = !isOperator.value;
          }}
        >
          {isOperator.value ? t.frame.useApiKey : t.frame.useOperatorToken}
        </button>
        <button type="submit" class="main" disabled={isSending.value}>
          {isSending.value ? t.frame.signingIn : t.frame.signIn}
        </button>
      </div>
    </form>
  );
}
