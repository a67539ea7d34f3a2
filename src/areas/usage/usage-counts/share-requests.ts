/** A statement's request and the positions of those who asked for it. */
export interface SharedRequest<Request> {
  request: Request;
  askers: { n: number; names: readonly string[] }[];
}

/**
 * Requests for the same events, each once: charges on one metric read its buckets together, whatever properties each of
 * them tells apart.
 */
export function shareRequests<Request>(
  asked: readonly { n: number; names: readonly string[]; request: Request }[],
): SharedRequest<Request>[] {
  const shared = new Map<string, SharedRequest<Request>>();
  for (const { n, names, request } of asked) {
    const key = JSON.stringify(request);
    const same = shared.get(key);
    if (same) same.askers.push({ n, names });
    else shared.set(key, { request, askers: [{ n, names }] });
  }
  return [...shared.values()];
}

/** Every name that somebody asked for, sorted. */
export const allNames = <Request>({ askers }: SharedRequest<Request>): string[] =>
  [...new Set(askers.flatMap(({ names }) => names))].sort();
