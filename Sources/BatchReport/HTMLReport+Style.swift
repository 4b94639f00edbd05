extension HTMLReport {
  /// The style sheet for light and dark screens and for print, at widths of 360 pixels or more. Charts use fill colors,
  /// which are printed as well.
  static let style: Markup = #"""
    :root {
      color-scheme: light dark;
      --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5c6878; --line: #dfe4ea;
      --accent: #2a6fdb; --bar: #7ba7ea; --band: #d6e3f7; --good: #17704a; --good-bg: #e0f3ea; --warn: #8a4b00; --warn-bg: #fdf0dc; --bad: #a4232f; --bad-bg: #fbe4e6;
      --c0: #2a6fdb; --c1: #d9772b; --c2: #2f9e77; --c3: #b4428f; --c4: #8a6fd1; --c5: #a3862a; --c6: #8993a1;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #12161c; --card: #1a2029; --ink: #e6eaf0; --soft: #98a4b5; --line: #2c3542;
        --accent: #7aaef8; --bar: #4b78b5; --band: #2b3d58; --good: #7fd6ac; --good-bg: #16352a; --warn: #f2bd74; --warn-bg: #3a2a13; --bad: #f49aa2; --bad-bg: #431d22;
        --c0: #6ea5f5; --c1: #f0a05e; --c2: #5cc79f; --c3: #de82c0; --c4: #b39df0; --c5: #d3b75c; --c6: #9aa5b4;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--ink);
      font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
    main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
    header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .75rem; margin-bottom: 1rem; }
    h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
    h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
    h3 { font-size: .95rem; margin: 1rem 0 .35rem; overflow-wrap: anywhere; }
    p { overflow-wrap: anywhere; } .whole { white-space: nowrap; } .word { display: inline-block; max-width: 100%; overflow-wrap: anywhere; }
    .badge { border-radius: 1rem; padding: .1rem .7rem; font-size: .85rem; font-weight: 600; background: var(--line); }
    .good { color: var(--good); } .badge.good { background: var(--good-bg); }
    .attention { color: var(--warn); } .badge.attention { background: var(--warn-bg); }
    .bad { color: var(--bad); } .badge.bad { background: var(--bad-bg); }
    .tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
    .tile, section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
    .tile { flex: 1 1 7rem; padding: .7rem .9rem; }
    .tile b { display: block; font-size: 1.5rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
    .tile span, .soft, figcaption { color: var(--soft); font-size: .85rem; }
    .columns { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: .75rem; }
    section { padding: 1rem 1.1rem; margin: .75rem 0 0; min-width: 0; }
    .columns section { flex: 1 1 20rem; margin: 0; max-width: 100%; }
    .charts { display: block; columns: 2 24rem; column-gap: .75rem; } .charts:not(:has(> :nth-child(2))) { columns: auto; }
    .charts section { break-inside: avoid; margin-bottom: .75rem; }
    .todo { border-left: 4px solid var(--warn); }
    .todo li { margin: .25rem 0; overflow-wrap: anywhere; }
    figure { margin: 0; }
    figure > svg { display: block; width: 100%; max-width: 31rem; height: auto; }
    svg text { font-size: 11px; fill: var(--soft); }
    svg text.small { font-size: 8px; }
    svg line { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
    .c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); } .c3 { fill: var(--c3); }
    .c4 { fill: var(--c4); } .c5 { fill: var(--c5); } .c6 { fill: var(--c6); } .band { fill: var(--band); }
    .keys { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem .9rem; padding: 0; margin: .35rem 0; font-size: .85rem; }
    .keys svg { width: .7em; height: .7em; margin-right: .35em; }
    svg.bar { display: block; width: 100%; height: .6rem; margin-top: .45rem; } svg.bar rect { fill: var(--bar); }
    details { margin-top: .6rem; } summary { cursor: pointer; color: var(--accent); font-size: .85rem; }
    table { border-collapse: collapse; width: 100%; }
    caption { text-align: left; color: var(--soft); font-size: .85rem; padding-bottom: .3rem; }
    th { text-align: left; font-weight: 600; color: var(--soft); font-size: .8rem; }
    th[scope="row"] { font-weight: 400; color: inherit; font-size: inherit; }
    .columns th[scope="row"] { width: 55%; }
    th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
    tr:last-child th[scope="row"], tr:last-child td { border-bottom: 0; }
    .long .stack td, details th[scope="row"] { min-width: 5.5rem; } .long .stack th[scope="row"]:not(.number) { min-width: 8rem; } .long .stack td.number { min-width: 0; }
    .long .stack td:has(> code) { min-width: 8.4rem; }
    table + table { margin-top: .9rem; } table + dl { margin-top: .6rem; }
    .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .single tbody { display: block; columns: 17rem; column-gap: 1.5rem; } .single tr, .single td { display: block; break-inside: avoid; }
    td.number:last-child, th.number:last-child { padding-right: 0; }
    .wide { width: 25%; }
    code { font: .85em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; }
    dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
    ul, ol { margin: 0; padding-left: 1.2rem; } li { overflow-wrap: anywhere; }
    footer { margin-top: 1.5rem; color: var(--soft); font-size: .85rem; }
    .heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    @media screen and (max-width: 56rem) {
      main { padding: 1rem .75rem 2rem; }
      .stack, .stack tbody, .stack tr, .stack th[scope="row"], .stack td { display: block; width: 100%; }
      .stack caption:not(.heard) { display: block; width: 100%; }
      .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
      .stack tr { padding: .4rem 0; border-bottom: 1px solid var(--line); }
      .stack th[scope="row"], .stack td { border: 0; padding: .05rem 0; text-align: left; }
      .stack td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); }
      .stack td:empty { display: none; }
      dl { grid-template-columns: 1fr; } dd { margin-bottom: .35rem; }
    }
    @media print {
      :root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --bar: #7ba7ea; --band: #d6e3f7;
        --good: #17704a; --warn: #8a4b00; --bad: #a4232f; --good-bg: #fff; --warn-bg: #fff; --bad-bg: #fff;
        --c0: #2a6fdb; --c1: #d9772b; --c2: #2f9e77; --c3: #b4428f; --c4: #8a6fd1; --c5: #a3862a; --c6: #8993a1; }
      html { font-size: 11px; } body { font-size: 1rem; line-height: 1.35; }
      details:not(.printed), summary { display: none; }
      details.printed::details-content { content-visibility: visible; display: block; block-size: auto; }
      details.printed { font-size: .85rem; } details.printed th, details.printed td { padding-block: 0; }
      main { max-width: none; padding: 0; } header { margin-bottom: .4rem; } .tiles { gap: .4rem; margin: .5rem 0; } .tile { padding: .3rem .6rem; }
      section { padding: .6rem .8rem; margin-top: .5rem; } h2 { margin-bottom: .4rem; } th, td { padding-block: .12rem; }
      .columns { display: block; columns: 2; column-gap: .5rem; } .columns section { margin-bottom: .5rem; }
      section, .tile { break-inside: avoid; }
      section.long { break-inside: auto; } tr { break-inside: avoid; }
      h2, h3, caption, thead { break-after: avoid; } tbody tr:first-child { break-before: avoid; }
      .long .stack th[scope="row"]:not(.number) { min-width: 15rem; }
      .long .stack td:not(.number) { min-width: 7.2rem; } .long .stack td:has(> code) { min-width: 10.5rem; }
      code { font-size: .95em; }
    }
    """#
}
