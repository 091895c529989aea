# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The style of every page. The collection and the audit, which is installed on its own, each have this same file.

Private to this collection: may change in any release.
"""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --faint: #59636e; --line: #d1d9e0; --wash: #f6f8fa;
  --on: #ffffff; --good: #1a7f37; --bad: #c62828; --open: #8a5a00; --calm: #0969da; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #9198a1;
  --line: #3d444d; --wash: #161b22; --on: #0d1117; --good: #3fb950; --bad: #ff7b72; --open: #d29922;
  --calm: #58a6ff; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 68rem; padding: 1rem; overflow-wrap: anywhere; print-color-adjust: exact;
  -webkit-print-color-adjust: exact; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .15rem 0 .4rem; }
h2 { font-size: 1.2rem; margin: 1.75rem 0 .25rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .25rem 0; }
a { color: var(--calm); }
ul { margin: .25rem 0; padding-left: 1.2rem; }
code { font-size: .9em; }
pre { margin: .25rem 0 .6rem; padding: .5rem .7rem; background: var(--wash); border: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9rem; break-inside: avoid; }
summary { cursor: pointer; color: var(--calm); padding: .2rem 0; }
.faint { color: var(--faint); }
.head { border-left: .4rem solid var(--faint); padding: .2rem 0 .2rem .9rem; }
.head.good { border-color: var(--good); }
.head.bad { border-color: var(--bad); }
.head.open { border-color: var(--open); }
.head.calm { border-color: var(--calm); }
.badge { display: inline-block; padding: .05rem .6rem; border-radius: 1rem; border: 1px solid var(--faint);
  color: var(--faint); font-weight: 600; font-size: .8rem; white-space: nowrap; }
.badge.good, .badge.bad, .badge.open { color: var(--on); border-color: transparent; }
.badge.good { background: var(--good); }
.badge.bad { background: var(--bad); }
.badge.open { background: var(--open); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .6rem; padding: 0;
  margin: 1rem 0; list-style: none; }
.tiles li { display: flex; flex-direction: column; background: var(--wash); border: 1px solid var(--line);
  padding: .5rem .7rem; break-inside: avoid; }
.tiles .name { font-size: .85rem; }
.tiles strong { font-size: 1.35rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tiles li > .faint { font-size: .8rem; line-height: 1.35; }
.card { border: 1px solid var(--line); border-left: .3rem solid var(--faint); padding: .4rem .8rem; margin: .5rem 0;
  break-inside: avoid; }
.card.good { border-left-color: var(--good); }
.card.bad { border-left-color: var(--bad); }
.card.open { border-left-color: var(--open); }
.scroll { overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: normal; }
td:last-child:not(.n) { overflow-wrap: anywhere; min-width: 10rem; }
th { background: var(--wash); }
tr { break-inside: avoid; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; }
.bars { margin: .5rem 0; font-size: .9rem; }
.bars .row { display: grid; grid-template-columns: 9rem minmax(6rem, 1fr) minmax(7rem, 17rem); gap: 0 .7rem;
  padding: .12rem 0; align-items: center; break-inside: avoid; }
.track { position: relative; background: var(--wash); height: 1.05rem; }
.bar { position: absolute; top: 0; height: 100%; min-width: 2px; background: var(--calm); }
.bar.still { background: var(--bad); }
.bar.some { background: var(--open); }
.bar.good { background: var(--good); }
.bar.rest { background: var(--open); }
.bar.bad { background: var(--bad); }
.turn { position: absolute; top: -.15rem; bottom: -.15rem; border-left: 2px dashed var(--ink); }
.axis .track { background: none; height: 1.4rem; border-bottom: 1px solid var(--faint); }
.tick { position: absolute; bottom: 0; padding-left: .2rem; border-left: 1px solid var(--faint); color: var(--faint);
  font-size: .75rem; line-height: 1.2; white-space: nowrap; }
.dot { position: absolute; top: .15rem; width: .75rem; height: .75rem; margin-left: -.37rem; border-radius: 50%;
  background: var(--calm); }
.dot.target { top: .3rem; width: .45rem; height: .45rem; margin-left: -.22rem; background: var(--open); }
svg { display: block; width: 100%; background: var(--wash); border: 1px solid var(--line); }
svg .good { fill: var(--good); }
svg .bad { fill: var(--bad); }
svg .open { fill: var(--open); }
svg .calm { fill: var(--calm); }
svg polyline { fill: none; stroke: var(--calm); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
@media screen and (max-width: 40rem) { body { padding: .6rem; } h1 { font-size: 1.45rem; }
  .bars .row { grid-template-columns: auto 1fr; }
  .bars .row > :nth-child(2) { grid-row: 2; grid-column: 1 / 3; } .bars .row > :nth-child(3) { text-align: right; } }
@media print { :root { font-size: 8.5pt; } body { max-width: none; padding: 0; font-size: 1rem; line-height: 1.35; }
  h2 { margin-top: .9rem; } .scroll { overflow: visible; } .tiles { grid-template-columns: repeat(6, 1fr); } }
"""
