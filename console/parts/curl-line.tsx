import { type ApiRequest, curlOf } from '../frame/requests.ts';
import { t } from '../texts/en.ts';
import { Copy } from './copy.tsx';

/** The line that repeats a request in a shell. */
export function CurlLine({ request }: { request: ApiRequest }) {
  const line = curlOf(request, location.origin);
  return (
    <div class="curl">
      <pre tabIndex={0} role="region" aria-label={`${request.method} ${request.path}`}>
        {line}
      </pre>
      <Copy text={line} label={t.parts.copyCurl} />
    </div>
  );
}
