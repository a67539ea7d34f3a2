import { expect, test } from 'vitest';
import { html } from '../../src/platform/html.ts';

test('values put into an HTML template are escaped unless they are HTML', () => {
  const name = `<script>"a" & 'b'</script>`;
  expect(html`<p title="${name}">${html`<b>${name}</b>`}</p>`.html).toBe(
    '<p title="&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;">' +
      '<b>&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;</b></p>',
  );
});

test('false, null and undefined print nothing, and lists print one element after the other', () => {
  expect(html`${false}${null}${undefined}${['<', html`<br>`, ['0']]}`.html).toBe('&lt;<br>0');
});
