import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../frame/api.ts';
import type { Reading } from '../frame/use-read.ts';
import { t } from '../texts/en.ts';
import { Copy } from './copy.tsx';
import { faultWords } from './fault-words.ts';

const PATIENCE_MS = 150;

/** Nothing for a moment, then the outline of what is coming. */
export function Loading({ rows = 4 }: { rows?: number }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="skeleton" aria-busy="true">
      <span class="unseen">{t.parts.loading}</span>
      {isLate && Array.from({ length: rows }, (_, index) => <i key={index} />)}
    </div>
  );
}

/** What is shown of a read: its answer, its outline, or why there is none. */
export function Shown<Answer>({
  of,
  rows,
  children,
}: {
  of: Reading<Answer> & { again?: () => void };
  rows?: number;
  children: (answer: Answer) => ComponentChildren;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <Failure error={of.error} again={of.again} />;
  return <Loading rows={rows} />;
}

const RESOURCE = /^(read|write)_action_not_allowed_for_(\w+)$/;

export function sentenceOf(error: ApiError): string {
  const [, mode, resource] = RESOURCE.exec(error.code ?? '') ?? [];
  if (resource) return t.parts.forbidden(mode, resource.replaceAll('_', ' '), resource, mode);
  if (error.status === 0) return t.parts.unreachable;
  if (error.status === 404) return t.parts.notFound;
  if (error.status === 401) return t.parts.signedOut;
  if (error.status === 429) return t.parts.tooManyRequests;
  if (error.status === 405 && error.code === 'test_clock_advancing') return t.parts.clockAdvancing;
  if (error.status === 504) return t.parts.writePending;
  if (error.status >= 500) return t.parts.serviceFailed;
  return error.message;
}

export function Failure({ error, again }: { error: ApiError; again?: (() => void) | undefined }) {
  return (
    <div class="notice bad" role="alert">
      <p>{sentenceOf(error)}</p>
      {Object.entries(error.details).map(([name, codes]) => (
        <p key={name}>
          <code>{name}</code>: {[codes].flat().map(faultWords).join(', ')}
        </p>
      ))}
      <p class="soft">
        {error.code && <code>{error.code}</code>}
        {error.requestId && (
          <>
            {' '}
            {t.parts.request}
            <code>{error.requestId}</code> <Copy text={error.requestId} label={t.parts.copyRequestId} />
          </>
        )}
      </p>
      {again && (
        <button type="button" class="quiet" onClick={again}>
          {t.parts.tryAgain}
        </button>
      )}
    </div>
  );
}

/** What would stand here, and what makes the first of it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="lead">{title}</p>
      {children}
    </div>
  );
}
