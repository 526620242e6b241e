"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const whole = figures[0].layout.xaxis.range.slice();
  const config = {
    responsive: true, displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  };
  const plots = figures.map((figure) => {
    const place = document.getElementById("plot-" + figure.key);
    Plotly.newPlot(place, figure.data, figure.layout, config);
    return place;
  });

  // One time axis: what one figure shows, all show.
  let following = false;
  const show = (range, but) => {
    following = true;
    Promise.all(plots.filter((plot) => plot !== but).map((plot) => Plotly.relayout(plot, { "xaxis.range": range.slice() })))
      .finally(() => { following = false; });
  };
  for (const plot of plots) {
    plot.on("plotly_relayout", (change) => {
      if (following || !Object.keys(change).some((key) => key.startsWith("xaxis"))) return;
      show(change["xaxis.autorange"] ? whole : plot.layout.xaxis.range, change["xaxis.autorange"] ? null : plot);
    });
  }

  const span = Math.min(whole[1] - whole[0], Math.max((whole[1] - whole[0]) / 20, 1e-3));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-t]");
    if (!button) return;
    const from = Math.max(whole[0], Math.min(Number(button.dataset.t) - span / 2, whole[1] - span));
    show([from, from + span], null);
    document.querySelector("figure").scrollIntoView({ block: "start" });
  });
})();
