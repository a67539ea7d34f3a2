import { render } from 'preact';
import { followLinks } from './frame/route.ts';
import { followEntryLinks, openSession } from './frame/session.ts';
import { Shell } from './frame/shell.tsx';
import { applyTheme } from './frame/theme.ts';
import 'uplot/dist/uPlot.min.css';
import 'tokens.css';
import './style/frame.css';
import './style/parts.css';

applyTheme();
followLinks();
followEntryLinks();
render(<Shell />, document.getElementById('app')!);
void openSession();
