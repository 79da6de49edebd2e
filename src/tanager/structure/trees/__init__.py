"""Trees below the class: naive Bayes, Chow-Liu and random trees."""
