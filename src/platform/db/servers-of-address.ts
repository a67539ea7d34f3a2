const ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s;
const ATTRIBUTES = /([?&])target_session_attrs=([^&]*)(&|$)/;
/** Wishes that are fulfilled: of several servers the primary is used, whichever is asked for. */
const MEANS_PRIMARY = new Set([undefined, 'primary', 'read-write']);

/**
 * The addresses of the servers that an address names, with the login, database and query of all:
 * `postgres://u:p@a,b:5433/x` → `postgres://u:p@a/x`, `postgres://u:p@b:5433/x`. An address of one server is left as it
 * is.
 *
 * Rule: several-hosts.md#fail-over.
 */
export function serversOf(url: string): string[] {
  const [, login = '', hosts = '', rest = ''] = ADDRESS.exec(url) ?? [];
  if (!hosts.includes(',')) return [url];
  const query = rest.replace(ATTRIBUTES, (_text, before: string, _wish, after: string) => (after ? before : ''));
  return hosts.split(',').map((host) => `${login}${host}${query}`);
}

/** Why several servers cannot be used as an address wishes; undefined if they can. */
export function whyServersAreWrong(url: string): string | undefined {
  const servers = serversOf(url);
  if (servers.length === 1) return undefined;
  if (servers.some((server) => !/^[^/]*\/\/(?:[^/?]*@)?[^,/?@]+(?:[/?]|$)/.test(server)))
    return 'must name every server';
  if (MEANS_PRIMARY.has(ATTRIBUTES.exec(url)?.[2])) return undefined;
  return 'must say target_session_attrs=primary, or nothing of it';
}
