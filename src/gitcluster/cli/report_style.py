"""The style of the report: light and dark screens, phones, and paper (A4 or letter)."""

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2733; --soft: #55606e; --line: #e1e6eb; --pale: #dadada;
--tint: #f5f7f9; --link: #00639b; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #14191f; --ink: #e4e8ed; --soft: #a3adb8;
--line: #303942; --pale: #4a525b; --tint: #1c232b; --link: #6cbdf0; }
figure.topo-graph image { opacity: .3; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 64rem;
margin: 2.5rem auto; padding: 0 1.25rem; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; margin: 0; line-height: 1.2; } h2 { margin: 3rem 0 .4rem; font-size: 1.35rem; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .3rem; } p { margin: .4rem 0; max-width: 46rem; } a { color: var(--link); }
p.lead { color: var(--soft); margin: .3rem 0 1.2rem; } nav { margin: 1.2rem 0 0; font-size: .95rem; }
nav a { margin-right: 1rem; white-space: nowrap; display: inline-block; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; margin: 0; }
dl.facts div { background: var(--tint); border-radius: .5rem; padding: .7rem .9rem; }
dl.facts dt { color: var(--soft); font-size: .85rem; } dl.facts dd { margin: 0; font-size: 1.5rem; font-weight: 600; }
dl.facts small { display: block; color: var(--soft); font-size: .85rem; font-weight: 400; line-height: 1.35; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: .5rem 2rem;
align-items: start; }
figure { margin: .8rem 0; } figcaption { color: var(--soft); font-size: .9rem; margin-bottom: .3rem; }
svg.plot { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; vertical-align: bottom; } .text { text-align: left; }
td.key { color: var(--soft); white-space: nowrap; } td.name { white-space: nowrap; font-weight: 600; }
code { overflow-wrap: anywhere; font-size: .9em; }
.dot { display: inline-block; width: .75em; height: .75em; border-radius: 50%; margin-right: .5em; }
.share { display: block; height: .3rem; border-radius: .15rem; margin-top: .2rem; min-width: 2px; }
footer { color: var(--soft); margin: 3rem 0 1rem; font-size: .85rem; }
@media (max-width: 40rem) { body { margin: 1.2rem auto; padding: 0 1rem; } h2 { margin-top: 2.2rem; }
th, td { padding: .3rem .35rem; font-size: .9rem; } td.key { white-space: normal; } }
@page { margin: 15mm 15mm 16mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 9.5pt; print-color-adjust: exact;
-webkit-print-color-adjust: exact; } nav { display: none; } .scroll { overflow: visible; } thead { display:
table-header-group; } h1 { font-size: 18pt; } h2 { font-size: 13pt; margin-top: 9mm; } h2, h3, h2 + p, .git-profile > p,
figcaption { break-after: avoid; } tr, figure, dl.facts div, .git-cluster, .pair, .heat { break-inside: avoid; }
.git-profile .heat td, .git-profile .heat th { padding: .15rem .3rem; font-size: 8.5pt; }
.pair { grid-template-columns: 1fr 1fr; gap: 0 6mm; } dl.facts { grid-template-columns: repeat(4, 1fr); }
p { max-width: none; break-inside: avoid; } svg.plot { max-height: 95mm; } a { color: inherit; } }
"""
