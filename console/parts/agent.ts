const BROWSER = /(Firefox|Edg|Chrome|Safari)\/\d+/;
const SYSTEM = /Windows|iPhone|iPad|Macintosh|Android|CrOS|Linux/;
const LONGEST_PROGRAM = 40;

/** A `User-Agent` header in the words of people: `Chrome 156, Linux`; of a program, its beginning. */
export function agentWords(agent: string | null | undefined): string {
  if (!agent) return '–';
  const browser = BROWSER.exec(agent)?.[0].replace('Edg/', 'Edge/').replace('/', ' ');
  const system = SYSTEM.exec(agent)?.[0].replace('Macintosh', 'macOS').replace('CrOS', 'ChromeOS');
  if (browser === undefined) return agent.slice(0, LONGEST_PROGRAM);
  return system === undefined ? browser : `${browser}, ${system}`;
}
