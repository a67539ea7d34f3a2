import type { IncomingMessage } from 'node:http';

const NAME = 'authorization';

/**
 * The Authorization header of a request. Undefined without one, and if there are several, which leave open who calls:
 * Node would take the first and a proxy in front of it perhaps the last.
 *
 * Rule: api-keys.md#authentication.
 */
export function authorizationOf({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>) {
  let count = 0;
  // Names stand at even places. The length spares most of them the comparison, on the way of every event.
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]!.length === NAME.length && rawHeaders[index]!.toLowerCase() === NAME) count += 1;
  return count === 1 ? headers.authorization : undefined;
}
